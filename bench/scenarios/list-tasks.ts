import { type ForkOptions, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { trackChild } from "../children.ts";
import { palaverOn, SDK_MEMORY } from "../contenders.ts";
import { milliseconds, seconds } from "../format.ts";
import { type ListPage, PAGE_PLACES, PAGE_SIZE, pagesOf } from "../list-pages.ts";
import { timedCall } from "../load/call.ts";
import { listBody } from "../load/requests.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import type { ServerProcess } from "../server-process.ts";
import { median, summarize } from "../statistics.ts";

/** Callers page through very many tasks, with every filter. */
export const listTasks: Scenario = { name: "list", title: "List", limitSeconds: [300, 90], run };

const LIMIT_MS = 5;
const REQUESTS = 9;

interface Measured {
  readonly filter: string;
  readonly place: string;
  readonly total: number;
  readonly p50: number;
  readonly max: number;
}

async function run(bench: Bench): Promise<Outcome> {
  const file = join(bench.folder(), "palaver.db");
  const sizes = bench.quick ? [100_000] : [100_000, 1_000_000];
  const rows: Row[] = [];
  const notes: string[] = [
    `Pages of ${PAGE_SIZE}, ${REQUESTS} requests each, timed by the caller over HTTP; the content of every page is checked.`,
  ];
  const data: Record<string, unknown> = {};
  let seeded = 0;
  for (const size of sizes) {
    bench.progress(`seeding ${(size - seeded).toLocaleString("en")} tasks`);
    const began = performance.now();
    await seedInProcess(bench, file, { from: seeded, to: size });
    seeded = size;
    notes.push(`${size.toLocaleString("en")} tasks: seeded in ${seconds((performance.now() - began) / 1000)}.`);
    const server = await bench.start(palaverOn(file));
    bench.progress(`${size.toLocaleString("en")} tasks: every filter, every page`);
    const measured = await measureAll(server, pagesOf(size));
    await server.stop();
    data[size] = measured;
    rows.push(...rowsOf(size, measured));
  }
  const peer = await measurePeer(bench);
  rows.push({
    work: "SDK in memory, 100,000 tasks, no filter, first page",
    figure: milliseconds(peer.median),
    spread: `${milliseconds(peer.min)} – ${milliseconds(peer.max)}`,
  });
  return { rows, notes, data: { ...data, peer } };
}

async function seedInProcess(
  bench: Bench,
  file: string,
  range: { readonly from: number; readonly to: number },
): Promise<void> {
  const script = fileURLToPath(new URL("../seed.ts", import.meta.url));
  const args = [file, String(range.from), String(range.to)];
  const options: ForkOptions = { execArgv: ["--no-warnings"], signal: bench.signal, killSignal: "SIGKILL" };
  const [code] = await once(trackChild(fork(script, args, options)), "exit");
  if (code !== 0) throw new Error("The database could not be seeded.");
}

async function measureAll({ port }: ServerProcess, pages: readonly ListPage[]): Promise<Measured[]> {
  const measured: Measured[] = [];
  for (const page of pages) {
    const times: number[] = [];
    for (let request = 0; request < REQUESTS; request += 1) {
      const { ms, result } = await timedCall(port, listBody(page.params));
      times.push(ms);
      const ids = result.tasks?.map(({ id }) => id) ?? [];
      if (result.totalSize !== page.total || ids.join() !== page.ids.join()) {
        throw new Error(
          `List (${page.filter}, ${page.place} page) is wrong: ${ids.length} of ${result.totalSize} tasks from ${ids[0]}, ` +
            `not ${page.ids.length} of ${page.total} from ${page.ids[0]}.`,
        );
      }
    }
    const { filter, place, total } = page;
    measured.push({ filter, place, total, p50: median(times), max: Math.max(...times) });
  }
  return measured;
}

function rowsOf(size: number, measured: readonly Measured[]): Row[] {
  const label = `${size.toLocaleString("en")} tasks`;
  const slowest = measured.toSorted((a, b) => b.p50 - a.p50)[0];
  const worst = slowest?.p50 ?? Number.NaN;
  const filters = [...new Set(measured.map(({ filter }) => filter))];
  const detail = filters.map((filter): Row => {
    const cells = PAGE_PLACES.map((place) => measured.find((one) => one.filter === filter && one.place === place));
    return {
      work: `  ${filter} (${cells[0]?.total.toLocaleString("en")} match)`,
      figure: cells.map((cell) => (cell === undefined ? "–" : cell.p50.toFixed(1))).join(" / "),
      spread: `max ${Math.max(...cells.map((cell) => cell?.max ?? 0)).toFixed(1)}`,
    };
  });
  return [
    {
      work: `${label}, slowest filter and page (p50)`,
      limit: `< ${LIMIT_MS} ms`,
      figure: `${milliseconds(worst)} (${slowest?.filter}, ${slowest?.place} page)`,
      spread: `max ${milliseconds(Math.max(...measured.map(({ max }) => max)))}`,
      ok: worst < LIMIT_MS,
    },
    { work: `${label}: p50 in ms of first / middle / last page`, figure: "" },
    ...detail,
  ];
}

async function measurePeer(bench: Bench): Promise<{ median: number; min: number; max: number }> {
  bench.progress("SDK in memory: 100,000 tasks");
  const server = await bench.start({ ...SDK_MEMORY, config: { tasks: 100_000 } });
  const times: number[] = [];
  for (let request = 0; request < 5; request += 1)
    times.push((await timedCall(server.port, listBody({ pageSize: PAGE_SIZE }))).ms);
  await server.stop();
  return summarize(times);
}
