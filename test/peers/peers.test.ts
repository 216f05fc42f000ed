import { afterAll, beforeAll } from "vitest";
import { CLIENTS } from "./clients.ts";
import { describeClient } from "./describe-client.ts";
import { type PeerServer, startPeerServer } from "./peer-server.ts";

let server: PeerServer;
beforeAll(async () => {
  server = await startPeerServer();
});
afterAll(() => server.close());

for (const line of CLIENTS) {
  for (const binding of line.bindings) describeClient(line, binding, () => server);
}
