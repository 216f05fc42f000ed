// Proves that nothing that a caller was answered is lost when the power fails: records every write and fsync of a server with strace, then
// builds the disk as it may be after a power failure at random moments, and starts a server with it.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createRandom } from "../random.ts";
import { checkDisk, type Known } from "./check-disk.ts";
import { DiskFile } from "./disk.ts";
import { type RecordedCall, readCalls, STRACE_OPTIONS } from "./system-calls.ts";

const { values: options } = parseArgs({
  options: {
    cuts: { type: "string", default: "100" },
    messages: { type: "string", default: "150" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});

if (options.help) {
  process.stdout.write(`Simulates power failures under a server that writes to SQLite. Needs strace (Debian: apt-get install strace).

  --cuts N      power failures per run (default 100)
  --messages N  messages that are sent while everything is recorded (default 150)
  --seed TEXT   repeats the same failures on another recording (default 1)

Three runs: durability full, where nothing that a caller was answered may be lost; durability process, where the latest tasks may be lost but
the file may not be damaged; and full with a disk that ignores fsync, where this script must find losses, or it could not find any.
`);
  process.exit(0);
}

/** Known tasks that are checked after each power failure: the latest. */
const CHECKED = 40;

interface Findings {
  readonly cuts: number;
  /** Power failures after which something was wrong. */
  readonly failures: number;
  readonly example: string | undefined;
}

async function replay(
  calls: readonly RecordedCall[],
  rules: { readonly syncs: boolean; readonly losses: boolean; readonly cuts: number },
): Promise<Findings> {
  const random = createRandom(options.seed).next;
  const disk = new Map<string, DiskFile>();
  const fileOf = (name: string): DiskFile => {
    const file = disk.get(name) ?? new DiskFile();
    disk.set(name, file);
    return file;
  };
  const beforeSync = new Map<string, number>();
  const known = new Map<string, Known>();
  // Not before the first answer: until then the database is being created.
  const first = calls.findIndex((call) => call.kind === "answered");
  const moments = new Set<number>();
  while (moments.size < Math.min(rules.cuts, calls.length - first))
    moments.add(first + Math.floor(random() * (calls.length - first)));
  let failures = 0;
  let example: string | undefined;
  for (const [index, call] of calls.entries()) {
    if (call.kind === "change") fileOf(call.file).add(call.change);
    else if (call.kind === "sync-begins") beforeSync.set(`${call.thread} ${call.file}`, fileOf(call.file).unsynced);
    else if (call.kind === "sync-ends") {
      if (rules.syncs || index < first) fileOf(call.file).sync(beforeSync.get(`${call.thread} ${call.file}`) ?? 0);
    } else remember(known, call.line);
    if (!moments.has(index)) continue;
    const files = new Map([...disk].map(([name, file]) => [name, file.afterPowerCut(random)]));
    const problems = await checkDisk(files, rules.losses ? new Map() : new Map([...known].slice(-CHECKED)));
    if (problems.length === 0) continue;
    failures += 1;
    example ??= problems[0];
  }
  return { cuts: moments.size, failures, example };
}

function remember(known: Map<string, Known>, line: string): void {
  const [kind, id = "", text = ""] = line.split(" ");
  known.set(id, { text, isDone: kind === "done" });
}

/** Records a server that answers messages. */
async function record(durability: string): Promise<readonly RecordedCall[]> {
  const folder = mkdtempSync(join(tmpdir(), "palaver-recorded-"));
  try {
    const trace = join(folder, "trace");
    const script = join(import.meta.dirname, "recorded-server.ts");
    const args = [...STRACE_OPTIONS, "-o", trace, process.execPath, script, folder, options.messages, durability];
    const { status, error, stderr } = spawnSync("strace", args, {
      encoding: "utf8",
      stdio: ["ignore", "inherit", "pipe"],
    });
    if (error !== undefined)
      throw new Error(`strace could not be started: install it (apt-get install strace). ${error}`);
    if (status !== 0) throw new Error(`The recorded server failed: ${stderr}`);
    return await Array.fromAsync(readCalls(trace, folder));
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}

const print = (name: string, { cuts, failures, example }: Findings): void => {
  process.stdout.write(`${name}: ${cuts} power failures, something wrong after ${failures}\n`);
  if (example !== undefined) process.stdout.write(`  for example: ${example}\n`);
};

const cuts = Number(options.cuts);
const full = await record("full");
const answered = full.filter(({ kind }) => kind === "answered").length;
const syncs = full.filter(({ kind }) => kind === "sync-ends").length;
process.stdout.write(`recorded ${full.length} calls: ${syncs} of fsync, ${answered} answers to callers\n`);
const findings = await replay(full, { syncs: true, losses: false, cuts });
print("durability full", findings);
const lazily = await replay(await record("process"), { syncs: true, losses: true, cuts });
print("durability process", lazily);
const control = await replay(full, { syncs: false, losses: false, cuts: Math.min(cuts, 10) });
print("a disk that ignores fsync (must show losses)", control);
process.exitCode = findings.failures === 0 && lazily.failures === 0 && control.failures > 0 ? 0 : 1;
