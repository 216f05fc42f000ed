// Measures what docs/operations/scaling.md states: processor time of a node and of PostgreSQL, transactions and bytes of the write-ahead log per send,
// per event, per idle stream and per parked task. Processor time is read from /proc (Linux only). Run: node bench/scaling/measure.ts
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { Agent, type IncomingMessage, request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { loadPostgresDriver } from "../../src/internal/postgres/driver.ts";
import { startPostgres } from "../../test/fixtures/postgres-server.ts";

/** Seconds per clock tick in /proc. */
const TICK = 0.01;
const http = new Agent({ keepAlive: true, maxSockets: 5000 });
const postgres = await startPostgres();
const admin = (await loadPostgresDriver()).createClient({ url: postgres.url, name: "measure", queryTimeout: 0 });
await admin.connect();

const node: ChildProcess = spawn(process.execPath, [join(import.meta.dirname, "node.ts")], {
  env: { ...process.env, DATABASE_URL: postgres.url },
  stdio: ["ignore", "pipe", "inherit"],
});
const url = String((await once(node.stdout ?? node, "data"))[0]).trim();

/** Processor time in seconds of a process, with its threads. */
function processorTime(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  // Its own time, and that of children that have ended.
  return [11, 12, 13, 14].reduce((sum, index) => sum + Number(fields[index]), 0) * TICK;
}

function postgresTime(): number {
  const [postmaster] = processesWith(`-p\0${postgres.port}\0`);
  let sum = postmaster === undefined ? 0 : processorTime(postmaster);
  for (const pid of allProcesses()) if (parentOf(pid) === postmaster) sum += processorTime(pid);
  return sum;
}

function allProcesses(): number[] {
  return readdirSync("/proc").flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : []));
}

function processesWith(words: string): number[] {
  return allProcesses().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(words);
    } catch {
      return false; // It has ended.
    }
  });
}

function parentOf(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ")[1]);
  } catch {
    return 0; // It has ended.
  }
}

interface Sample {
  readonly node: number;
  readonly database: number;
  readonly transactions: number;
  readonly wal: number;
  readonly memory: number;
}

async function sample(): Promise<Sample> {
  // The figures of a backend arrive about half a second late.
  await sleep(1200);
  const { rows } = await admin.query(
    `SELECT (SELECT sum(xact_commit) FROM pg_stat_database) AS transactions, pg_current_wal_insert_lsn() - '0/0' AS wal`,
  );
  const status = readFileSync(`/proc/${node.pid}/status`, "utf8");
  return {
    node: processorTime(node.pid ?? 0),
    database: postgresTime(),
    transactions: Number(rows[0]?.["transactions"]),
    wal: Number(rows[0]?.["wal"]),
    memory: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1024,
  };
}

let messages = 0;

function call(method: string, params: object): Promise<IncomingMessage> {
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  const sent = request(url, { method: "POST", agent: http, headers });
  sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }));
  return once(sent, "response").then(([response]) => response as IncomingMessage); // Safe: the event's argument.
}

const messageOf = (words: string) => ({ messageId: `m${++messages}`, role: "ROLE_USER", parts: [{ text: words }] });

async function send(words: string, immediately = false): Promise<{ readonly id: string }> {
  const params = { message: messageOf(words), configuration: { returnImmediately: immediately } };
  const { result, error } = JSON.parse(await text(await call("SendMessage", params)));
  if (result === undefined) throw new Error(JSON.stringify(error));
  return result.task;
}

async function inParallel(count: number, width: number, work: () => Promise<unknown>): Promise<void> {
  let left = count;
  await Promise.all(
    Array.from({ length: width }, async () => {
      while (left-- > 0) await work();
    }),
  );
}

/** Prints the costs of `work` per unit. */
async function measure(name: string, units: number, work: () => Promise<unknown>): Promise<void> {
  const before = await sample();
  const started = performance.now();
  await work();
  const after = await sample();
  const seconds = (performance.now() - started) / 1000;
  const per = (from: number, to: number): number => (to - from) / units;
  const row = {
    units,
    seconds: seconds.toFixed(1),
    "node µs": (per(before.node, after.node) * 1e6).toFixed(0),
    "database µs": (per(before.database, after.database) * 1e6).toFixed(0),
    transactions: per(before.transactions, after.transactions).toFixed(3),
    "WAL bytes": per(before.wal, after.wal).toFixed(0),
    "memory bytes": per(before.memory, after.memory).toFixed(0),
  };
  process.stdout.write(`${name}: ${JSON.stringify(row)}\n`);
}

/** Tasks that wait, each with an idle stream. */
const WAITING = 500;
const IDLE_SECONDS = 10;

try {
  await inParallel(300, 16, () => send("echo"));
  await measure("idle node, per second", 10, () => sleep(10_000));
  await measure("send, one at a time", 200, () => inParallel(200, 1, () => send("echo")));
  await measure("send, 32 at a time", 2000, () => inParallel(2000, 32, () => send("echo")));
  const [streams, events] = [50, 100];
  await measure("event, 50 streams with 20 events per second each", streams * events, () =>
    Promise.all(
      Array.from({ length: streams }, async () => {
        const params = { message: messageOf(`stream ${events} 50`) };
        await text(await call("SendStreamingMessage", params));
      }),
    ),
  );
  // As the server does by itself after a minute.
  await admin.query("ANALYZE");
  const waiting: { readonly id: string }[] = [];
  await measure("task that asks a question", WAITING, () =>
    inParallel(WAITING, 32, async () => waiting.push(await send("wait"))),
  );
  const open: IncomingMessage[] = [];
  await measure("open an idle stream", WAITING, () =>
    inParallel(WAITING, 32, async () => {
      const task = waiting[open.length];
      const response = await call("SubscribeToTask", { id: task?.id });
      response.resume();
      open.push(response);
    }),
  );
  const seconds = WAITING * IDLE_SECONDS;
  await measure(`${WAITING} idle streams, per stream and second`, seconds, () => sleep(IDLE_SECONDS * 1000));
  for (const response of open) response.destroy();
  await measure(`${WAITING} waiting tasks, per second`, IDLE_SECONDS, () => sleep(IDLE_SECONDS * 1000));
} finally {
  const exited = once(node, "exit");
  node.kill("SIGTERM");
  await exited;
  http.destroy();
  await admin.end();
  await postgres.stop();
}
