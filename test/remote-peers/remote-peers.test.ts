import { afterAll } from "vitest";
import { describeColumn } from "../peers/describe-column.ts";
import { hush } from "./hush.ts";
import { SCENARIOS } from "./scenarios.ts";
import { SERVERS } from "./servers.ts";
import { Stage } from "./stage.ts";

hush();

for (const line of SERVERS) {
  for (const binding of line.bindings) {
    describeColumn({
      line,
      binding,
      groups: SCENARIOS,
      stage() {
        const stage = new Stage(line, binding);
        afterAll(() => stage.close());
        return () => stage;
      },
    });
  }
}
