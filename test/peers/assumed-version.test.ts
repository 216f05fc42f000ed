import { afterAll, beforeAll, describe } from "vitest";
import { a2aJsV02 } from "./clients/a2a-js-v0-2.ts";
import { describeClient } from "./describe-client.ts";
import { type PeerServer, startPeerServer } from "./peer-server.ts";

let server: PeerServer;
beforeAll(async () => {
  server = await startPeerServer({ assumeVersion: "0.2" });
});
afterAll(() => server.close());

describe("a server that assumes 0.2 for requests without a version", () => {
  const rules = { ...a2aJsV02.rules, unknownTask: "a new task" } as const;
  for (const binding of a2aJsV02.bindings) describeClient({ ...a2aJsV02, rules }, binding, () => server);
});

describe("a server that supports only 0.2", () => {
  let only: PeerServer;
  beforeAll(async () => {
    only = await startPeerServer({ versions: ["0.2"] });
  });
  afterAll(() => only.close());
  const rules = { ...a2aJsV02.rules, unknownTask: "a new task" } as const;
  for (const binding of a2aJsV02.bindings) describeClient({ ...a2aJsV02, rules }, binding, () => only);
});
