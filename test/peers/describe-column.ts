import { describe, it } from "vitest";
import { BINDINGS, type Binding, type Line, type ScenarioGroup, whyNot } from "./line.ts";

export interface ColumnOptions<Setup, Ability extends string> {
  readonly line: Line<Ability>;
  readonly binding: Binding;
  readonly groups: readonly ScenarioGroup<Setup, Ability>[];
  /** Sets up the environment of the scenarios. Called inside the column's describe block. */
  setup(): () => Setup;
}

/** The name of the tests of one library over one binding. The matrix is built from these names. */
export function columnTitle(line: Line<never>, binding: Binding): string {
  return `${line.package} ${line.version} | ${line.protocol} | ${BINDINGS[binding]}`;
}

/** Runs all scenarios with a library over one binding: one column of the matrix. */
export function describeColumn<Setup, Ability extends string>(options: ColumnOptions<Setup, Ability>): void {
  const { line, binding, groups } = options;
  describe(columnTitle(line, binding), () => {
    const setup = options.setup();
    for (const { title, scenarios } of groups) {
      describe(title, () => {
        for (const { operation, needs, run } of scenarios) {
          it(operation, async ({ skip }) => {
            const reason = whyNot(line, binding, needs);
            if (reason !== undefined) skip(reason);
            await run(setup());
          });
        }
      });
    }
  });
}
