import type { TaskId } from "../../protocol/ids.ts";
import { type LargeMembers, PLACEHOLDER_HISTORY } from "../../protocol/large-members.ts";
import type { Scope } from "../../protocol/principal.ts";
import type { StoredTask } from "../../protocol/serial.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { Store, TaskRecord } from "../../store/contract.ts";
import type { SnapshotOptions } from "../api.ts";
import { withoutDetails } from "../record/inbox-message.ts";
import type { Feed } from "./feed.ts";
import { type Feeds, isWithin } from "./feeds.ts";
import { type FoldedArtifacts, foldEntries, foldUpTo } from "./fold-log.ts";
import { keptHistory, largeHistory } from "./large-members.ts";
import { LogDropped } from "./read-log.ts";
import type { StateHistories } from "./state-history.ts";

/** The task as it is committed now. `undefined`: the scope has no such task. */
export function takeSnapshot(
  parts: { readonly store: Store; readonly feeds: Feeds; readonly stateHistories?: StateHistories },
  which: { readonly scope: Scope; readonly id: TaskId },
  options: SnapshotOptions,
): StoredTask | undefined | Promise<StoredTask | undefined> {
  const { stateHistories } = parts;
  if (options.stateHistory === true && stateHistories !== undefined)
    return currentTask(parts, which, options).then((task) => task && stateHistories.addedTo(task, which.id));
  // A send reads its task when that has just ended.
  const feed = parts.feeds.peek(which.id);
  return feed?.finished !== undefined && isWithin(feed.task, which.scope)
    ? finishedTask(feed, options)
    : currentTask(parts, which, options);
}

async function currentTask(
  { store, feeds }: { readonly store: Store; readonly feeds: Feeds },
  { scope, id }: { readonly scope: Scope; readonly id: TaskId },
  options: SnapshotOptions,
): Promise<StoredTask | undefined> {
  const feed = feeds.peek(id);
  if (feed !== undefined && !isWithin(feed.task, scope)) return undefined;
  if (feed?.finished !== undefined) return finishedTask(feed, options);
  const live = feed?.hasWriter === true ? await unlessDropped(liveTask(store, feed, options)) : undefined;
  if (live !== undefined) return live;
  const { artifacts, history, largeBytes } = options;
  const record = await store.get(id, { scope, artifacts, history, largeBytes });
  return record === undefined ? undefined : recordedTask(store, record, options);
}

/** The task as of this record; or as it is now, if its log was dropped meanwhile. `undefined`: it was deleted meanwhile. */
export function recordedTask(
  store: Store,
  record: TaskRecord,
  options: SnapshotOptions,
): StoredTask | Promise<StoredTask | undefined> {
  return needsLog(record, options) ? foldedTask(store, record, options) : taskOf({ store, record }, options);
}

/** Whether the artifacts of the record must be read from the log. */
function needsLog({ artifacts }: TaskRecord, options: SnapshotOptions): boolean {
  return options.artifacts && artifacts === undefined;
}

async function foldedTask(store: Store, record: TaskRecord, options: SnapshotOptions): Promise<StoredTask | undefined> {
  const task = await unlessDropped(assembledTask(store, record, options));
  if (task !== undefined) return task;
  // A log is dropped only after the artifacts were stored separately, so the second read needs no log.
  const { artifacts, history, largeBytes } = options;
  const later = await store.get(record.id, { artifacts, history, largeBytes });
  return later === undefined ? undefined : assembledTask(store, later, options);
}

/** `undefined`: the log was dropped while it was read. */
export async function unlessDropped<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (error instanceof LogDropped) return undefined;
    throw error;
  }
}

/** The task as of the record's seq. Rejects with `LogDropped` if its artifacts cannot be read any more. */
export async function assembledTask(store: Store, record: TaskRecord, options: SnapshotOptions): Promise<StoredTask> {
  const { id, seq } = record;
  if (!needsLog(record, options)) return taskOf({ store, record }, options);
  return taskOf({ store, record, artifacts: await foldUpTo(store, { id, upTo: seq }, options.largeBytes) }, options);
}

interface ReadRecord {
  readonly store: Store;
  readonly record: TaskRecord;
  /** As they were folded from the log, if that was necessary. */
  readonly artifacts?: FoldedArtifacts;
}

function taskOf({ store, record, artifacts }: ReadRecord, options: SnapshotOptions): StoredTask {
  const { id, contextId, seq, head, dialect, createdAt } = record;
  return {
    id: publicTaskId(id),
    contextId,
    dialect,
    createdAt,
    seq,
    state: head.state,
    status: head.status,
    ...(options.artifacts && { artifacts: record.artifacts ?? artifacts?.text ?? "[]" }),
    ...historyMember(record, options),
    ...(head.metadata !== undefined && { metadata: head.metadata }),
    ...largeMembers(store, record, artifacts),
  };
}

/** The task as its writer, in this process, has committed it. The store may be ahead of the feed; events that the feed does not show yet are left out. */
async function liveTask(store: Store, feed: Feed, options: SnapshotOptions): Promise<StoredTask | undefined> {
  const { seq, state, status, metadata, createdAt } = feed;
  const { id, contextId, scope, dialect } = feed.task;
  const whole = options.artifacts ? feed.read(0) : undefined;
  const { history, largeBytes } = options;
  const record = await store.get(id, { scope, artifacts: false, history, largeBytes, upTo: seq });
  if (record === undefined) return undefined;
  const artifacts =
    options.artifacts && whole === undefined ? await foldUpTo(store, { id, upTo: seq }, largeBytes) : undefined;
  return {
    id: publicTaskId(id),
    contextId,
    dialect,
    createdAt,
    seq,
    state,
    status,
    ...(options.artifacts && {
      artifacts: artifacts?.text ?? JSON.stringify(foldEntries(whole ?? [])),
    }),
    ...historyMember(record, options),
    ...(metadata !== undefined && { metadata }),
    ...largeMembers(store, record, artifacts),
  };
}

function finishedTask(feed: Feed, options: SnapshotOptions): StoredTask {
  const { finished, seq, state, status, metadata, createdAt } = feed;
  const { id, contextId, dialect } = feed.task;
  const history = finished?.history ?? [];
  const last = options.history === undefined ? history : history.slice(Math.max(0, history.length - options.history));
  return {
    id: publicTaskId(id),
    contextId,
    dialect,
    createdAt,
    seq,
    state,
    status,
    ...(options.artifacts && { artifacts: finished?.artifacts ?? "[]" }),
    ...finishedHistory(last, options),
    ...(metadata !== undefined && { metadata }),
  };
}

function finishedHistory(messages: readonly string[], options: SnapshotOptions): Pick<StoredTask, "history" | "large"> {
  const { history, largeBytes = Number.POSITIVE_INFINITY } = options;
  if (history === 0) return {};
  const bytes = messages.reduce((sum, { length }) => sum + length, 0);
  if (bytes <= largeBytes) return { history: `[${messages.join(",")}]` };
  return { history: PLACEHOLDER_HISTORY, large: { history: keptHistory(messages) } };
}

function historyMember(record: TaskRecord, options: SnapshotOptions): { readonly history?: string } {
  if (options.history === 0) return {};
  if (record.largeHistory !== undefined) return { history: PLACEHOLDER_HISTORY };
  return { history: `[${record.history.map((entry) => withoutDetails(entry.body)).join(",")}]` };
}

function largeMembers(
  store: Store,
  { id, largeHistory: range }: TaskRecord,
  artifacts: FoldedArtifacts | undefined,
): { readonly large?: LargeMembers } {
  if (range === undefined && artifacts?.large === undefined) return {};
  return {
    large: {
      ...(artifacts?.large !== undefined && { artifacts: artifacts.large }),
      ...(range !== undefined && { history: largeHistory({ store, id }, range) }),
    },
  };
}
