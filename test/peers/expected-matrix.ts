import { chaptersOf } from "../golden/story.ts";
import { SCENARIOS as REMOTE_SCENARIOS } from "../remote-peers/scenarios.ts";
import { SERVERS } from "../remote-peers/servers.ts";
import { CLIENTS } from "./clients.ts";
import { BINDINGS, type Line, type ScenarioGroup, whyNot } from "./line.ts";
import type { Cell, Matrix, Table } from "./matrix.ts";
import { SCENARIOS } from "./scenarios.ts";

/** The matrix if every peer can do everything it does not lack. */
export function expectedMatrix(): Matrix {
  return {
    clients: expectedTable(CLIENTS, SCENARIOS),
    servers: expectedTable(SERVERS, REMOTE_SCENARIOS),
    golden: chaptersOf("v0_1").map(({ title, stories }) => ({
      title,
      exchanges: stories.map(({ name }) => ({ name, cell: { outcome: "passed" } })),
    })),
  };
}

function expectedTable<Setup, Ability extends string>(
  lines: readonly Line<Ability>[],
  scenarioGroups: readonly ScenarioGroup<Setup, Ability>[],
): Table {
  const pairs = lines.flatMap((line) => line.bindings.map((binding) => ({ line, binding })));
  return {
    columns: pairs.map(({ line, binding }) => ({
      peer: `${line.package} ${line.version}`,
      protocol: line.protocol,
      binding: BINDINGS[binding],
    })),
    groups: scenarioGroups.map(({ title, scenarios }) => ({
      title,
      rows: scenarios.map(({ operation, needs }) => ({
        operation,
        cells: pairs.map(({ line, binding }): Cell => {
          const reason = whyNot(line, binding, needs);
          return reason === undefined ? { outcome: "passed" } : { outcome: "lacking", reason };
        }),
      })),
    })),
  };
}
