import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { trackChild } from "../children.ts";
import { milliseconds, seconds, spread } from "../format.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import { OWN_CLONE } from "../server-process.ts";
import { type Summary, summarize } from "../statistics.ts";

/** What the command line costs before it does anything: processor time of short commands, and the time until `npm start` listens. */
export const start: Scenario = { name: "start", title: "Start of the command line", limitSeconds: [300, 120], run };

/** Milliseconds of processor time beyond those of `node -e 0`. */
const COMMAND_LIMIT = 120;
/** Milliseconds from `npm start` until the server listens. */
const SERVER_LIMIT = 1000;
/** The Node flag in the first line of src/cli/main.ts. */
const FLAG = "--max-semi-space-size=16";
/** Loaded into each process: writes the processor time of the whole process, in microseconds, to file descriptor 3 when it exits. */
const REPORT = `process.on("exit", () => {
  const { user, system } = process.cpuUsage();
  process.getBuiltinModule("node:fs").writeSync(3, String(user + system));
});
`;
const REPORT_FILE = "report-cpu.cjs";

async function run(bench: Bench): Promise<Outcome> {
  const runs = bench.quick ? 8 : Math.max(20, bench.runs);
  bench.progress("building the package");
  const folder = await built(bench);
  const server = await bench.start({ label: "Palaver in memory", script: "palaver" });
  const main = join(folder, "dist", "cli", "main.js");
  const commands: Readonly<Record<string, readonly string[]>> = {
    "node -e 0": ["-e", "0"],
    "palaver --version": [FLAG, main, "--version"],
    "palaver send": [FLAG, main, "send", "Hello", "-a", `http://127.0.0.1:${server.port}`],
  };
  const measured = new Map(Object.keys(commands).map((name) => [name, [] as number[]]));
  bench.progress(`${runs} runs of each command`);
  // The first two runs write the cache of compiled modules.
  for (let round = -2; round < runs; round++) {
    for (const [name, args] of Object.entries(commands)) {
      const used = await processorTime(bench, args, folder);
      if (round >= 0) measured.get(name)?.push(used);
    }
  }
  await server.stop();
  bench.progress("npm start");
  const starts: number[] = [];
  for (let round = -1; round < bench.runs; round++) {
    const time = await untilListening(bench);
    if (round >= 0) starts.push(time);
  }
  const results = new Map(Array.from(measured, ([name, values]) => [name, summarize(values)]));
  const bare = results.get("node -e 0") ?? summarize([]);
  const rows = Array.from(results, ([name, summary]) => commandRow(name, summary, summary === bare ? undefined : bare));
  const listening = summarize(starts);
  return {
    rows: [
      ...rows,
      {
        work: "npm start, until it listens (elapsed time)",
        limit: `≤ ${seconds(SERVER_LIMIT / 1000)}`,
        figure: seconds(listening.median / 1000),
        ...spread(listening, (value) => seconds(value / 1000)),
        ok: listening.median <= SERVER_LIMIT,
      },
    ],
    notes: [
      `User and system time of the whole process, ${runs} alternated runs of the built package, after two that fill Node's cache of compiled modules.`,
      "`palaver send` reads the card, sends a message over JSON-RPC 1.0, reads the stream, and prints the result.",
    ],
    data: { commands: Object.fromEntries(results), listening },
  };
}

function commandRow(name: string, used: Summary, bare: Summary | undefined): Row {
  const row = { work: name, figure: milliseconds(used.median), ...spread(used, milliseconds) };
  if (bare === undefined) return row;
  const more = used.median - bare.median;
  return {
    ...row,
    limit: `≤ ${COMMAND_LIMIT} ms more than node -e 0`,
    figure: `${row.figure}, ${milliseconds(more)} more`,
    ok: more <= COMMAND_LIMIT,
  };
}

/** The package as users install it: compiled, beside its dependencies. */
async function built(bench: Bench): Promise<string> {
  const folder = bench.folder();
  cpSync(join(OWN_CLONE, "package.json"), join(folder, "package.json"));
  symlinkSync(join(OWN_CLONE, "node_modules"), join(folder, "node_modules"));
  writeFileSync(join(folder, REPORT_FILE), REPORT);
  const compiler = join(OWN_CLONE, "node_modules", ".bin", "tsc");
  const args = ["--project", "tsconfig.build.json", "--outDir", join(folder, "dist")];
  const child = trackChild(spawn(compiler, args, { cwd: OWN_CLONE, stdio: "inherit", signal: bench.signal }));
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error("The package could not be built.");
  return folder;
}

/** Milliseconds of processor time of a process, from its start to its end. */
async function processorTime(bench: Bench, args: readonly string[], folder: string): Promise<number> {
  const child = trackChild(
    spawn(process.execPath, ["--require", join(folder, REPORT_FILE), ...args], {
      stdio: ["ignore", "ignore", "pipe", "pipe"],
      env: { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled"), HOME: folder },
      signal: bench.signal,
    }),
  );
  const texts = ["", ""];
  child.stdio[2]?.on("data", (chunk: Buffer) => (texts[0] += chunk.toString()));
  child.stdio[3]?.on("data", (chunk: Buffer) => (texts[1] += chunk.toString()));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${args.join(" ")} failed: ${texts[0]}`);
  return Number(texts[1]) / 1000;
}

/** Milliseconds from `npm start` in this clone until the server prints its address. */
async function untilListening(bench: Bench): Promise<number> {
  const before = performance.now();
  const args = ["start", "--", "--port", "0", "--store", "memory:"];
  // A group of its own: npm does not pass every signal on.
  const child = trackChild(spawn("npm", args, { cwd: OWN_CLONE, stdio: ["ignore", "pipe", "ignore"], detached: true }));
  const group = -(child.pid ?? Number.NaN);
  const stop = (): void => void process.kill(group, "SIGTERM");
  bench.signal.addEventListener("abort", stop);
  try {
    let printed = "";
    for await (const chunk of child.stdout) {
      printed += String(chunk);
      if (/^Process: \d+$/m.test(printed)) return performance.now() - before;
    }
    throw new Error(`npm start ended: ${printed}`);
  } finally {
    bench.signal.removeEventListener("abort", stop);
    stop();
  }
}
