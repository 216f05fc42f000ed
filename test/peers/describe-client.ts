import { beforeAll } from "vitest";
import type { ClientLine } from "./client-line.ts";
import { describeColumn } from "./describe-column.ts";
import type { Binding } from "./line.ts";
import type { PeerServer } from "./peer-server.ts";
import { ScenarioSetup } from "./scenario.ts";
import { SCENARIOS } from "./scenarios.ts";

/** Runs all scenarios with a client over one binding. */
export function describeClient(line: ClientLine, binding: Binding, server: () => PeerServer): void {
  describeColumn({
    line,
    binding,
    groups: SCENARIOS,
    setup() {
      let setup: ScenarioSetup;
      beforeAll(() => {
        const { url, gates, rootOf } = server();
        setup = new ScenarioSetup({ line, binding, url, gates, rootOf });
      });
      return () => setup;
    },
  });
}
