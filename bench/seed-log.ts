import { pathToFileURL } from "node:url";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../src/protocol/ids.ts";
import { writeEvent, writeMessage, writeStatus } from "../src/protocol/serial.ts";
import type { TaskStatus } from "../src/protocol/task.ts";
import type { LogEntry, TaskHead, TaskWrite } from "../src/store/contract.ts";
import { openSqliteStore } from "../src/store/sqlite/store.ts";
import { AGENT_ID } from "./agent-id.ts";

/**
 * Adds two tasks with long logs to a SQLite file: `node bench/seed-log.ts FILE EVENTS`. One writes an artifact in chunks; the other changes its status at
 * every tenth event, so that its log has very many lines.
 */
export const LONG_TASKS = {
  chunks: "0192f000-0000-7000-8000-000000000001",
  mixed: "0192f000-0000-7000-8000-000000000002",
} as const;

const NODE = "seed-log";
const BATCH = 1000;
const FIRST_AT = Date.UTC(2026, 5, 1);

export async function seedLogs(file: string, events: number): Promise<void> {
  const store = await openSqliteStore({ file, durability: "process" });
  try {
    await store.heartbeat(NODE, 600_000);
    for (const [kind, id] of Object.entries(LONG_TASKS))
      for (let from = 1; from <= events; from += BATCH) {
        const write = writeOf(id, { from, to: Math.min(events, from + BATCH - 1), events, isMixed: kind === "mixed" });
        const [outcome] = await store.commit([write]);
        if (outcome?.status !== "ok") throw new Error(`The store refused events: ${outcome?.status}.`);
      }
    await store.leave(NODE);
  } finally {
    await store.close();
  }
}

interface Range {
  readonly from: number;
  readonly to: number;
  readonly events: number;
  readonly isMixed: boolean;
}

function writeOf(id: string, { from, to, events, isMixed }: Range): TaskWrite {
  const isLast = to === events;
  const entries: LogEntry[] = [];
  for (let seq = from; seq <= (isLast ? to - 1 : to); seq += 1) entries.push({ seq, body: bodyOf(seq, isMixed) });
  const status: TaskStatus = { state: isLast ? "completed" : "working", timestamp: timeOf(to) };
  const statusAt = Date.parse(timeOf(to));
  const head: TaskHead = {
    ...{ state: status.state, status: writeStatus(status), statusAt },
    runner: RUNNER,
    active: false,
  };
  // Safe casts: ids of the bench.
  const [contextId, task] = [`context of ${id}` as ContextId, id as TaskId];
  const message = {
    ...{ messageId: `message of ${id}` as MessageId, role: "user" as const, taskId: task, contextId },
    parts: [{ text: isMixed ? "A task with very many lines" : "A task with a long artifact" }],
  };
  return {
    ...{ kind: "write", task, epoch: 1, entries, head, taken: [], steps: [], forgetSteps: false, release: isLast },
    history: from === 1 ? [{ after: 0, body: writeMessage(message) }] : [],
    ...(from === 1 && {
      create: {
        ...{ contextId, contextShared: false, dialect: "1.0/jsonrpc", at: FIRST_AT, node: NODE },
        scope: { agent: AGENT_ID, tenant: "", owner: "anonymous" },
      },
      journal: [
        {
          key: "attempt/1/1",
          body: JSON.stringify({ kind: "attempt", key: "1", turn: 1, attempt: 1, node: NODE, start: FIRST_AT }),
        },
      ],
    }),
    ...(isLast && {
      end: {
        entry: { seq: to, body: writeEvent({ kind: "status", status }) },
        ...{ head, history: [], unlessInbox: false },
      },
    }),
  };
}

function timeOf(seq: number): string {
  return new Date(FIRST_AT + seq * 10).toISOString();
}

/** A chunk of some words; in a mixed log every tenth event is a status. */
function bodyOf(seq: number, isMixed: boolean): string {
  if (seq === 1 || (isMixed && seq % 10 === 0))
    return writeEvent({ kind: "status", status: { state: "working", timestamp: timeOf(seq) } });
  const artifact = {
    artifactId: "report.md" as ArtifactId,
    ...(seq === 2 && { name: "report.md" }),
    parts: [{ text: `Words of event ${seq}, ${seq % 12 === 0 ? "and a new paragraph.\n\n" : "and more. "}` }],
  };
  return writeEvent({ kind: "artifact", artifact, append: seq > 2, lastChunk: false });
}

const RUNNER = JSON.stringify({ attempt: 1, tries: 1, turnAfter: 0, interruptedAt: 1, bytes: 300 });

const [, script, file, events] = process.argv;
if (script !== undefined && import.meta.url === pathToFileURL(script).href) await seedLogs(file ?? "", Number(events));
