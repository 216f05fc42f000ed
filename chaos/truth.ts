import type { TaskEvent } from "../src/protocol/event.ts";
import { ArtifactFold } from "../src/protocol/fold.ts";
import { ANONYMOUS, type Scope } from "../src/protocol/principal.ts";
import { readEvent, readMessage } from "../src/protocol/serial.ts";
import { isTerminal } from "../src/protocol/state.ts";
import type { Store, TaskRecord, WebhookRecord } from "../src/store/contract.ts";
import { openSqliteStore } from "../src/store/sqlite/store.ts";
import { lineOf, shortened, statusLine, type TaskPicture, textOf } from "./event-line.ts";

/** A task in the store after the run: all records are compared with it. */
export interface TaskTruth {
  readonly id: string;
  /** The id of its first message, which is its name in the plan. */
  readonly name: string;
  readonly state: string;
  /** Event number `n` is `events[n - 1]`. */
  readonly events: readonly TaskEvent[];
  /** The same events, each as one line. */
  readonly log: readonly string[];
  /** The final text of every artifact, by name. */
  readonly artifacts: Readonly<Record<string, string>>;
  /** The ids of the caller's messages, in order. */
  readonly messages: readonly string[];
  readonly webhooks: readonly WebhookRecord["state"][];
}

export const SCOPE: Scope = { agent: "scripted", tenant: "", owner: ANONYMOUS.id };
const PAGE = 200;
const PAGE_BYTES = 4 * 1024 * 1024;

/** Every task of a run. */
async function* eachTask(store: Store): AsyncGenerator<TaskRecord, void> {
  let page = await store.list({ scope: SCOPE, limit: PAGE, artifacts: false });
  for (;;) {
    yield* page.tasks;
    if (page.next === undefined) return;
    page = await store.list({ scope: SCOPE, limit: PAGE, artifacts: false, before: page.next });
  }
}

/** Reads a SQLite store that no other process has open. */
export async function readTruth(database: string): Promise<readonly TaskTruth[]> {
  const store = await openSqliteStore({ file: database });
  try {
    return await truthIn(store);
  } finally {
    await store.close();
  }
}

/** Every task of a store. */
export async function truthIn(store: Store): Promise<readonly TaskTruth[]> {
  const tasks: TaskTruth[] = [];
  for await (const record of eachTask(store)) tasks.push(await truthOf(store, record));
  return tasks;
}

/** What has not come to its end. */
export interface Unsettled {
  /** Ids of tasks that have not ended. */
  readonly tasks: readonly string[];
  /** Number of webhooks with pending notifications. */
  readonly webhooks: number;
}

export async function unsettledIn(store: Store): Promise<Unsettled> {
  const tasks: string[] = [];
  let webhooks = 0;
  for await (const { id, head } of eachTask(store)) {
    if (!isTerminal(head.state)) tasks.push(id);
    webhooks += (await store.webhooks(id)).filter(({ state }) => state === "active").length;
  }
  return { tasks, webhooks };
}

async function truthOf(store: Store, { id, head, seq }: TaskRecord): Promise<TaskTruth> {
  const record = await store.get(id, { artifacts: false });
  const messages = (record?.history ?? []).map(({ body }) => readMessage(body)).filter(({ role }) => role === "user");
  const events: TaskEvent[] = [];
  while (events.length < seq) {
    const page = await store.log(id, events.length, PAGE_BYTES);
    if (page.length === 0) break;
    for (const { body } of page) events.push(readEvent(body));
  }
  return {
    id,
    name: messages[0]?.messageId ?? "",
    state: head.state,
    events,
    log: events.map(lineOf),
    artifacts: Object.fromEntries(artifactTexts(events)),
    messages: messages.map(({ messageId }) => messageId),
    webhooks: (await store.webhooks(id)).map(({ state }) => state),
  };
}

function artifactTexts(events: readonly TaskEvent[]): [string, string][] {
  const fold = new ArtifactFold();
  for (const event of events) fold.add(event);
  return fold.artifacts().map(({ artifactId, name, parts }) => [name ?? artifactId, textOf(parts)]);
}

/** The task after each event. */
export function* picturesOf(events: readonly TaskEvent[]): Generator<TaskPicture, void> {
  const texts = new Map<string, string>();
  let artifacts: TaskPicture["artifacts"] = {};
  let status = "";
  for (const event of events) {
    if (event.kind === "status") status = statusLine(event.status);
    else {
      const name = event.artifact.name ?? event.artifact.artifactId;
      texts.set(name, (event.append ? (texts.get(name) ?? "") : "") + textOf(event.artifact.parts));
      artifacts = { ...artifacts, [name]: shortened(texts.get(name) ?? "") };
    }
    yield { status, artifacts };
  }
}
