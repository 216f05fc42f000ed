import { chaptersOf } from "../golden/story.ts";
import { BINDINGS, type Binding, type ClientLine, whyNot } from "./client-line.ts";
import { CLIENTS } from "./clients.ts";
import type { Cell, Matrix } from "./matrix.ts";
import { SCENARIOS } from "./scenarios.ts";

/** The name of the tests of one client over one binding. The matrix is read off such names. */
export function columnTitle(line: ClientLine, binding: Binding): string {
  return `${line.package} ${line.version} | ${line.protocol} | ${BINDINGS[binding]}`;
}

/** The matrix as it is when every client can do all it is able to. */
export function expectedMatrix(): Matrix {
  const pairs = CLIENTS.flatMap((line) => line.bindings.map((binding) => ({ line, binding })));
  return {
    columns: pairs.map(({ line, binding }) => ({
      client: `${line.package} ${line.version}`,
      protocol: line.protocol,
      binding: BINDINGS[binding],
    })),
    groups: SCENARIOS.map(({ title, scenarios }) => ({
      title,
      rows: scenarios.map(({ operation, needs }) => ({
        operation,
        cells: pairs.map(({ line, binding }): Cell => {
          const reason = whyNot(line, binding, needs);
          return reason === undefined ? { outcome: "passed" } : { outcome: "lacking", reason };
        }),
      })),
    })),
    golden: chaptersOf("v0_1").map(({ title, stories }) => ({
      title,
      exchanges: stories.map(({ name }) => ({ name, cell: { outcome: "passed" } })),
    })),
  };
}
