import { readFileSync, writeFileSync } from "node:fs";
import { Workbench } from "../test/e2e/workbench.ts";
import { runTravelTask } from "../test/fixtures/travel-task.ts";
import { type PrintedTrace, traceSvg } from "./trace-svg.ts";

// `node scripts/trace-picture.ts` runs a task, and puts what `palaver trace` prints about it into the documentation: as text and as a picture.
// `test/docs/trace-picture.test.ts` checks that both are still what the program prints.

const FOLDER = new URL("../docs/operations/", import.meta.url);
const PAGE = new URL("observability.md", FOLDER);
const PICTURE = new URL("trace.svg", FOLDER);
const BLOCK = /(<!-- palaver trace -->\n```text\n)[\s\S]*?(^```$)/m;

const bench = new Workbench();
try {
  const { id } = await runTravelTask(bench);
  const trace = async (...flags: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await bench.run(["trace", id, "--store", "sqlite:tasks.db", ...flags], {
      env: { COLUMNS: "100" },
    });
    if (code !== 0) throw new Error(stderr);
    return stdout;
  };
  const text = await trace();
  const page = readFileSync(PAGE, "utf8");
  if (!BLOCK.test(page)) throw new Error(`${PAGE.pathname} has no block for the output of palaver trace.`);
  writeFileSync(
    PAGE,
    page.replace(BLOCK, (_, begin: string, end: string) => begin + text + end),
  );
  // Safe: the command prints it.
  const printed = JSON.parse(await trace("--json")) as PrintedTrace;
  writeFileSync(PICTURE, traceSvg(printed));
} finally {
  await bench.close();
}
