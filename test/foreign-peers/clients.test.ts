import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AWAITED } from "./awaited.ts";
import { startPalaver } from "./client-agent.ts";
import { RUN_CLIENT } from "./client-scenarios.ts";
import { CLIENTS } from "./clients.ts";
import { CLIENT_SCENARIOS, type RunningPeer } from "./peer.ts";

let palaver: RunningPeer;
beforeAll(async () => {
  palaver = await startPalaver();
});
afterAll(() => palaver.close());

describe.each(CLIENTS)("the client of $name ($package $version), as a script of its requests", (peer) => {
  for (const scenario of CLIENT_SCENARIOS) {
    const expected = peer.expected[scenario];
    const test = AWAITED.has(`${peer.name} client: ${scenario}`) ? it.fails : it;
    if (expected === "works") test(scenario, () => RUN_CLIENT[scenario](peer, palaver.url));
    else {
      it(`${scenario}: cannot work, because ${expected.cannot}`, async () => {
        await expect(RUN_CLIENT[scenario](peer, palaver.url)).rejects.toThrow();
      });
    }
  }
});
