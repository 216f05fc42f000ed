import { type Artifact, isReasoning } from "../../protocol/artifact.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { inputRequestsOf } from "../../protocol/input-request.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import { readTask, type StoredTask } from "../../protocol/serial.ts";
import { isTerminal } from "../../protocol/state.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { ListCursor, Store, TaskRecord } from "../../store/contract.ts";
import type { ConversationMessage, ConversationOptions } from "../agent/agent.ts";
import type { TaskRef } from "../api.ts";
import { recordedTask } from "../read/snapshot.ts";
import type { CallResults } from "./call-results.ts";

export interface ConversationHost {
  readonly store: Store;
  readonly ref: TaskRef;
  readonly results: CallResults;
  readonly turn: {
    readonly message: Message;
    readonly history: readonly Message[];
    readonly artifacts: readonly Artifact[];
  };
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;
/** Tasks that one call looks at. */
const MAX_TASKS = 1000;
const PAGE = 50;
/** Results or messages of a task with more bytes than this are left out, and so are all older tasks once the total is reached. */
const LARGE_BYTES = 256 * 1024;
const LARGE_BYTES_WITH_FILES = 8 * 1024 * 1024;
const MAX_BYTES = 4 * 1024 * 1024;
const LEFT_OUT: Part = { text: "[This part of the conversation is too large and is left out.]" };

/**
 * The messages of the context before this turn, oldest first. The ids of the tasks that they come from are stored, so that a replay reads the
 * same ones; tasks that have ended do not change any more. Throws a `TypeError` for invalid options.
 */
export async function readConversation(
  host: ConversationHost,
  { limit = DEFAULT_LIMIT, files = "name" }: ConversationOptions,
): Promise<readonly ConversationMessage[]> {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LIMIT)
    throw new TypeError(`conversation(): limit must be a whole number from 1 to ${MAX_LIMIT}.`);
  const { results, turn, ref } = host;
  const key = results.key("conversation", "");
  const known = results.recall(key);
  const own = messagesOf({ history: before(turn), results: resultsOf(turn.artifacts) }, { id: ref.id, files });
  const earlier: ConversationMessage[][] = [];
  const used: TaskId[] = [];
  let count = own.length;
  let bytes = 0;
  // Safe cast: this function stored the ids.
  const tasks = known === undefined ? endedTasks(host, files) : storedTasks(host, known.value as TaskId[], files);
  for await (const [id, task] of tasks) {
    const messages = messagesOf(contentOf(task), { id, files });
    bytes += (task.history?.length ?? 0) + (task.artifacts?.length ?? 0);
    if (count >= limit || bytes > MAX_BYTES) break;
    used.push(id);
    earlier.push(messages);
    count += messages.length;
  }
  if (known === undefined) results.remember(key, { value: used });
  return [...earlier.reverse().flat(), ...own].slice(-limit);
}

/** The ended tasks of the context, the latest first. */
async function* endedTasks({ store, ref }: ConversationHost, files: Files): AsyncGenerator<[TaskId, StoredTask]> {
  const { scope, contextId } = ref;
  let before: ListCursor | undefined;
  for (let seen = 0; seen < MAX_TASKS; seen += PAGE) {
    const page = await store.list({
      scope,
      contextId,
      limit: PAGE,
      ...reading(files),
      maxBytes: MAX_BYTES,
      ...(before !== undefined && { before }),
    });
    for (const record of page.tasks) {
      if (record.id === ref.id || !isTerminal(record.head.state)) continue;
      const task = await recordedTask(store, record, reading(files));
      if (task !== undefined) yield [record.id, task];
    }
    before = page.next;
    if (before === undefined) return;
  }
}

async function* storedTasks(
  { store, ref }: ConversationHost,
  ids: readonly TaskId[],
  files: Files,
): AsyncGenerator<[TaskId, StoredTask]> {
  for (const id of ids) {
    const record: TaskRecord | undefined = await store.get(id, { scope: ref.scope, ...reading(files) });
    const task = record && (await recordedTask(store, record, reading(files)));
    if (task !== undefined) yield [id, task];
  }
}

type Files = NonNullable<ConversationOptions["files"]>;

function reading(files: Files): { artifacts: true; history: undefined; largeBytes: number } {
  return {
    artifacts: true,
    history: undefined,
    largeBytes: files === "inline" ? LARGE_BYTES_WITH_FILES : LARGE_BYTES,
  };
}

interface Content {
  readonly history: readonly Message[];
  /** The parts of all artifacts; for a task that was not completed, then the reason. */
  readonly results: readonly Part[];
}

function contentOf(stored: StoredTask): Content {
  const { large } = stored;
  const { status, history = [], artifacts = [] } = readTask(stored);
  const results = large?.artifacts === undefined ? resultsOf(artifacts) : [LEFT_OUT];
  const reason = status.state === "completed" ? undefined : status.message?.parts;
  return {
    // The members of a large task are placeholders.
    history: large?.history === undefined ? history : [],
    results: reason === undefined ? results : [...results, ...reason],
  };
}

/** Without the reasoning of a model, which is for readers only. */
function resultsOf(artifacts: readonly Artifact[]): readonly Part[] {
  return artifacts.filter((artifact) => !isReasoning(artifact)).flatMap(({ parts }) => parts);
}

function messagesOf(
  { history, results }: Content,
  { id, files }: { readonly id: TaskId; readonly files: Files },
): ConversationMessage[] {
  const taskId = publicTaskId(id);
  const shown = (parts: readonly Part[]): readonly Part[] => (files === "inline" ? parts : parts.map(named));
  const messages: ConversationMessage[] = [];
  for (const message of history) {
    // Of the agent's status messages only questions belong to the conversation: answers follow them.
    if (message.role === "agent" && inputRequestsOf(message).length === 0) continue;
    messages.push({ role: message.role, parts: shown(message.parts), taskId });
  }
  if (results.length > 0) messages.push({ role: "agent", parts: shown(results), taskId });
  return messages;
}

/** An inline file as a text that names it. */
function named(part: Part): Part {
  if (part.raw === undefined) return part;
  const name = part.filename ?? "without a name";
  return { text: `[File: ${name}${part.mediaType === undefined ? "" : ` (${part.mediaType})`}]` };
}

function before({ history, message }: ConversationHost["turn"]): readonly Message[] {
  const index = history.findIndex(({ messageId }) => messageId === message.messageId);
  return index === -1 ? history : history.slice(0, index);
}
