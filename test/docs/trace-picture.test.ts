import { afterAll, beforeAll, expect, test } from "vitest";
import { traceSvg } from "../../scripts/trace-svg.ts";
import { type Ended, Workbench } from "../e2e/workbench.ts";
import { runTravelTask } from "../fixtures/travel-task.ts";
import { codeBlocks, readPage } from "./code-blocks.ts";

const bench = new Workbench();
/** What the command printed while the server was running, and after it was stopped. */
let running: readonly [text: Ended, json: Ended];
let stopped: typeof running;

beforeAll(async () => {
  const { id, server } = await runTravelTask(bench);
  const trace = (...flags: readonly string[]): Promise<Ended> =>
    bench.run(["trace", id, "--store", "sqlite:tasks.db", ...flags], { env: { COLUMNS: "100" } });
  // One after the other: a stopped store has one reader at a time.
  const both = async (): Promise<typeof running> => [await trace(), await trace("--json")];
  running = await both();
  await server.kill("SIGTERM");
  stopped = await both();
}, 60_000);
afterAll(() => bench.close());

test("palaver trace prints the same about a task of a running server as of a stopped one", () => {
  for (const { code, stderr } of running) expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(running[0].stdout).toContain("webhook hook");
  expect(stopped).toEqual(running);
});

test("docs/operations/observability.md shows what palaver trace prints (if not: node scripts/trace-picture.ts)", () => {
  const shown = codeBlocks("docs/operations/observability.md").find(({ mark }) => mark === "palaver trace");
  expect(shape(stopped[0].stdout)).toBe(shape(shown?.code ?? ""));
});

test("docs/operations/trace.svg shows the same trace (if not: node scripts/trace-picture.ts)", () => {
  const drawn = traceSvg(JSON.parse(stopped[1].stdout));
  expect(shape(withoutGrid(drawn))).toBe(shape(withoutGrid(readPage("docs/operations/trace.svg"))));
});

/** Text without what differs from run to run: ids, times, and the length of bars. How many notifications are sent depends on time too. */
function shape(text: string): string {
  return text
    .replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}|[\da-f]{32}/g, "ID")
    .replaceAll(/^webhook hook: .*\n/gm, "")
    .replaceAll(/^<text [^>]*>webhook hook: .*\n.*\n.*\n/gm, "")
    .replaceAll(/ (?:height|width|x|viewBox)="[\d ]+"/g, "")
    .replaceAll(/\d+(?:\.\d+)? m?s/g, "TIME")
    .replaceAll(/([█░])+/g, "$1")
    .replaceAll(/(?<=\S) +/g, " ")
    .replaceAll(/^ {3,}/gm, "");
}

/** A longer task has more lines for seconds. */
function withoutGrid(svg: string): string {
  return svg.replaceAll(/^<line .*\n.*\n/gm, "");
}
