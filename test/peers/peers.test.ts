import { afterAll, beforeAll } from "vitest";
import { sampledOnNodes } from "../fixtures/nodes/serve-agents.ts";
import { CLIENTS } from "./clients.ts";
import { describeClient } from "./describe-client.ts";
import { type PeerServer, startPeerServer } from "./peer-server.ts";

let server: PeerServer;
beforeAll(async () => {
  server = await startPeerServer();
});
afterAll(() => server.close());

const columns = CLIENTS.flatMap((line) => line.bindings.map((binding) => ({ line, binding })));
for (const { line, binding } of sampledOnNodes(columns, 4)) describeClient(line, binding, () => server);
