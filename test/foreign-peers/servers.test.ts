import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AWAITED } from "./awaited.ts";
import { type RunningPeer, SERVER_SCENARIOS } from "./peer.ts";
import { runServer } from "./server-scenarios.ts";
import { SERVERS } from "./servers.ts";

describe.each(SERVERS)("the server of $name ($package $version), as a script of its answers", (peer) => {
  let running: RunningPeer;
  beforeAll(async () => {
    running = await peer.start();
  });
  afterAll(() => running.close());

  for (const scenario of SERVER_SCENARIOS) {
    const expected = peer.expected[scenario];
    const test = AWAITED.has(`${peer.name} server: ${scenario}`) ? it.fails : it;
    if (expected === "works") test(scenario, () => runServer(scenario, running));
    else {
      it(`${scenario}: cannot work, because ${expected.cannot}`, async () => {
        await expect(runServer(scenario, running)).rejects.toThrow();
      });
    }
  }
});
