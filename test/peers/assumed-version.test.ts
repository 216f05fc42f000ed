import { afterAll, beforeAll, describe } from "vitest";
import { a2aJsV02 } from "./clients/a2a-js-v0-2.ts";
import { describeClient } from "./describe-client.ts";
import { type PeerServer, startPeerServer } from "./peer-server.ts";

let server: PeerServer;
beforeAll(async () => {
  server = await startPeerServer({ assumeVersion: "0.2" });
});
afterAll(() => server.close());

describe("where callers that name no version are taken for those of 0.2", () => {
  const rules = { ...a2aJsV02.rules, unknownTask: "a new task" } as const;
  for (const binding of a2aJsV02.bindings) describeClient({ ...a2aJsV02, rules }, binding, () => server);
});

describe("where nothing but 0.2 is spoken", () => {
  let only: PeerServer;
  beforeAll(async () => {
    only = await startPeerServer({ versions: ["0.2"] });
  });
  afterAll(() => only.close());
  const rules = { ...a2aJsV02.rules, unknownTask: "a new task" } as const;
  for (const binding of a2aJsV02.bindings) describeClient({ ...a2aJsV02, rules }, binding, () => only);
});
