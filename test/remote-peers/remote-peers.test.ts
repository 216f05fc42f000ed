import { afterAll } from "vitest";
import { describeColumn } from "../peers/describe-column.ts";
import { ScenarioSetup } from "./scenario-setup.ts";
import { SCENARIOS } from "./scenarios.ts";
import { SERVERS } from "./servers.ts";
import { silenceConsole } from "./silence-console.ts";

silenceConsole();

for (const line of SERVERS) {
  for (const binding of line.bindings) {
    describeColumn({
      line,
      binding,
      groups: SCENARIOS,
      setup() {
        const setup = new ScenarioSetup(line, binding);
        afterAll(() => setup.close());
        return () => setup;
      },
    });
  }
}
