import { afterAll, beforeAll, describe } from "vitest";
import { declareCell } from "./declare-cell.ts";
import { type RunningPeer, SERVER_SCENARIOS } from "./peer.ts";
import { runServer } from "./server-scenarios.ts";
import { SERVERS } from "./servers.ts";

describe.each(SERVERS)("the server of $name ($package $version), as a script of its responses", (peer) => {
  let running: RunningPeer;
  beforeAll(async () => {
    running = await peer.start();
  });
  afterAll(() => running.close());

  for (const scenario of SERVER_SCENARIOS) {
    declareCell(`${peer.name} server: ${scenario}`, peer.expected[scenario], () => runServer(scenario, running));
  }
});
