import { pathToFileURL } from "node:url";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../src/protocol/ids.ts";
import { ANONYMOUS } from "../src/protocol/principal.ts";
import { writeEvent, writeMessage, writeStatus } from "../src/protocol/serial.ts";
import { isTerminal } from "../src/protocol/state.ts";
import type { TaskStatus } from "../src/protocol/task.ts";
import type { TaskHead, TaskWrite } from "../src/store/contract.ts";
import { openSqliteStore } from "../src/store/sqlite/store.ts";
import { AGENT_ID } from "./agent-id.ts";
import { seededTask } from "./dataset.ts";
import { ANSWER } from "./servers/workload.ts";

/**
 * Fills a SQLite file through the store's interface, like the engine: `node bench/seed.ts FILE FROM TO` creates the
 * tasks of those numbers.
 */
const BATCH = 2_000;
const NODE = "seed";

export async function seed(file: string, from: number, to: number): Promise<void> {
  const store = await openSqliteStore({ file, durability: "process" });
  try {
    await store.heartbeat(NODE, 600_000);
    for (let start = from; start < to; start += BATCH) {
      const batch = Array.from({ length: Math.min(BATCH, to - start) }, (_, offset) => write(start + offset));
      const refused = (await store.commit(batch)).find(({ status }) => status !== "ok");
      if (refused !== undefined) throw new Error(`The store refused a seeded task: ${refused.status}.`);
      if (start % 100_000 < BATCH) process.stderr.write(`  seeded ${start.toLocaleString("en")} tasks\n`);
    }
    await store.leave(NODE);
  } finally {
    await store.close();
  }
}

function write(index: number): TaskWrite {
  const { id, contextId, state, at } = seededTask(index);
  const artifact = { artifactId: branded<ArtifactId>("result"), name: "result", parts: [{ text: ANSWER }] };
  const message = {
    messageId: branded<MessageId>(`seed-${index}`),
    role: "user" as const,
    parts: [{ text: "When does the ferry leave, and from where?" }],
    taskId: branded<TaskId>(id),
    contextId: branded<ContextId>(contextId),
  };
  const status: TaskStatus = { state, timestamp: new Date(at).toISOString() };
  const head: TaskHead = { state, status: writeStatus(status), statusAt: at, runner: RUNNER, active: false };
  const last = { seq: 2, body: writeEvent({ kind: "status", status }) };
  const ends = isTerminal(state);
  const first = { seq: 1, body: writeEvent({ kind: "artifact", artifact, append: false, lastChunk: true }) };
  return {
    kind: "write",
    task: branded<TaskId>(id),
    epoch: 1,
    create: {
      contextId: branded<ContextId>(contextId),
      contextShared: true,
      scope: { agent: AGENT_ID, tenant: "", owner: ANONYMOUS.id },
      dialect: "1.0/jsonrpc",
      at,
      node: NODE,
    },
    entries: ends ? [first] : [first, last],
    head,
    history: [{ after: 0, body: writeMessage(message) }],
    taken: [],
    steps: [],
    forgetSteps: false,
    ...(ends && {
      end: { entry: last, head, history: [], unlessInbox: false, artifacts: JSON.stringify([artifact]) },
    }),
    release: true,
  };
}

const RUNNER = JSON.stringify({ attempt: 1, tries: 1, turnAfter: 0, interruptedAt: 2, bytes: 300 });

/** Casts a string to an id type; codecs and the engine create real ids. */
function branded<Id extends string>(id: string): Id {
  return id as Id;
}

if (process.argv[1] !== undefined && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [file, from, to] = process.argv.slice(2);
  if (file === undefined) throw new TypeError("node bench/seed.ts FILE FROM TO");
  await seed(file, Number(from), Number(to));
}
