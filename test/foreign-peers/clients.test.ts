import { afterAll, beforeAll, describe } from "vitest";
import { serveAgents } from "../fixtures/nodes/serve-agents.ts";
import { startPalaver } from "./client-agent.ts";
import { RUN_CLIENT } from "./client-scenarios.ts";
import { CLIENTS } from "./clients.ts";
import { declareCell } from "./declare-cell.ts";
import { CLIENT_SCENARIOS, type RunningPeer } from "./peer.ts";

let palaver: RunningPeer;
beforeAll(async () => {
  palaver = await startPalaver(serveAgents);
});
afterAll(() => palaver.close());

describe.each(CLIENTS)("the client of $name ($package $version), as a script of its requests", (peer) => {
  for (const scenario of CLIENT_SCENARIOS) {
    declareCell(`${peer.name} client: ${scenario}`, peer.expected[scenario], () =>
      RUN_CLIENT[scenario](peer, palaver.url),
    );
  }
});
