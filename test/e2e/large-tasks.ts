import { createHash } from "node:crypto";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../../src/protocol/ids.ts";
import { ANONYMOUS } from "../../src/protocol/principal.ts";
import { writeEvent, writeMessage, writeStatus } from "../../src/protocol/serial.ts";
import type { LogEntry, Store, TaskHead, TaskWrite } from "../../src/store/contract.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

const NODE = "seed";
const CHUNK_LENGTH = 50_000;
const START = Date.parse("2026-01-01T00:00:00Z");
const TIMESTAMP = new Date(START).toISOString();

export interface LargeTask {
  readonly id: string;
  readonly bytes: number;
  /** Number of history messages, 10 KB each. Default 1. */
  readonly messages?: number;
}

/** Fills a store file with finished tasks. Each has one artifact: a text of `bytes` bytes in many parts. */
export async function seedLargeTasks(file: string, agent: string, tasks: readonly LargeTask[]): Promise<void> {
  const store = await openSqliteStore({ file, durability: "process" });
  try {
    await store.heartbeat(NODE, 600_000);
    for (const [index, task] of tasks.entries()) await seedTask(store, agent, { ...task, at: START + index });
    await store.leave(NODE);
    // Moves the logs to the table of finished tasks.
    await store.sweep();
  } finally {
    await store.close();
  }
}

/**
 * The text of a task's artifact. It contains characters of one to four bytes, so a cut inside a character would show.
 */
export function* chunksOf({ id, bytes }: LargeTask): Generator<string> {
  let written = 0;
  for (let n = 0; written < bytes; n++) {
    const chunk = `${id}:${n}:"\\ ß€🙂`.padEnd(CHUNK_LENGTH, n % 2 === 0 ? "x" : "y");
    written += CHUNK_LENGTH;
    yield chunk;
  }
}

export function textHash(chunks: Iterable<string>): string {
  const hash = createHash("sha256");
  for (const chunk of chunks) hash.update(chunk);
  return hash.digest("hex");
}

async function seedTask(store: Store, agent: string, task: LargeTask & { readonly at: number }): Promise<void> {
  const id = task.id as TaskId; // Ids are opaque: any string is valid.
  const scope = { agent, tenant: "", owner: ANONYMOUS.id };
  const contextId = "context" as ContextId; // Ids are opaque: any string is valid.
  const write = (details: Partial<TaskWrite>): TaskWrite => ({
    ...{ kind: "write", task: id, epoch: 1, entries: [], history: [], taken: [], steps: [] },
    ...{ forgetSteps: false, release: false, ...details },
  });
  const message = (n: number) =>
    writeMessage({
      messageId: `${id}-${n}` as MessageId, // Ids are opaque: any string is valid.
      role: "user",
      parts: [{ text: "go".padEnd(10_000, ".") }],
    });
  const create = { contextId, contextShared: true, scope, dialect: "1.0/jsonrpc", at: task.at, node: NODE };
  const history = [{ after: 0, body: message(0) }];
  await commit(store, [
    write({ create, head: headOf("working", task.at), entries: [statusEntry(1, "working")], history }),
  ]);
  for (let n = 1; n < (task.messages ?? 1); n++)
    await commit(store, [write({ history: [{ after: 1, body: message(n) }] })]);
  let seq = 1;
  let entries: LogEntry[] = [];
  for (const text of chunksOf(task)) {
    seq += 1;
    entries.push({ seq, body: chunkBody(text, seq > 2) });
    if (entries.length < 20) continue;
    await commit(store, [write({ entries })]);
    entries = [];
  }
  const head = headOf("completed", task.at);
  const end = { entry: statusEntry(seq + 1, "completed"), head, history: [], unlessInbox: false };
  await commit(store, [write({ entries, end })]);
}

async function commit(store: Store, operations: readonly TaskWrite[]): Promise<void> {
  const [outcome] = await store.commit(operations);
  if (outcome?.status !== "ok") throw new Error(`The store refused a seeded task: ${outcome?.status}.`);
}

function chunkBody(text: string, append: boolean): string {
  const artifactId = "result" as ArtifactId; // Ids are opaque: any string is valid.
  const artifact = { artifactId, parts: [{ text }], ...(!append && { name: "result" }) };
  return writeEvent({ kind: "artifact", artifact, append, lastChunk: false });
}

function headOf(state: "working" | "completed", at: number): TaskHead {
  const runner = JSON.stringify({ attempt: 1, tries: 1, turnAfter: 0, interruptedAt: 0, bytes: 0 });
  const status = writeStatus({ state, timestamp: TIMESTAMP });
  return { state, status, statusAt: at, runner, active: state === "working" };
}

function statusEntry(seq: number, state: "working" | "completed"): LogEntry {
  return { seq, body: writeEvent({ kind: "status", status: { state, timestamp: TIMESTAMP } }) };
}
