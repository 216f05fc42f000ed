import type {
  GetOptions,
  HistoryEntry,
  InboxEntry,
  JournalRecord,
  LogEntry,
  Outcome,
  StepRecord,
  TaskCreate,
  TaskHead,
  TaskId,
  TaskRecord,
  TaskWrite,
  WebhookRecord,
} from "palaver/store";

/** A task as this store keeps it: one JSON document, without the log. */
export interface TaskDocument {
  readonly id: TaskId;
  readonly create: TaskCreate;
  head: TaskHead;
  seq: number;
  firstSeq: number;
  epoch: number;
  node?: string;
  /** Its place among the tasks that have ended. Absent: it has not ended. */
  endedAs?: number;
  history: HistoryEntry[];
  inbox: InboxEntry[];
  steps: StepRecord[];
  journal: JournalRecord[];
  artifacts?: string;
  webhooks: WebhookRecord[];
}

/** Whether the entries, including that of the end, continue the log without a gap. */
export function continuesLog(seq: number, { entries, end }: TaskWrite): boolean {
  const seqs = [...entries, ...(end === undefined ? [] : [end.entry])].map((entry) => entry.seq);
  return seqs.every((found, index) => found === seq + 1 + index);
}

/** Applies a write that has passed every check. New log entries go to `log`. */
export function applyWrite(task: TaskDocument, write: TaskWrite, log: LogEntry[]): Outcome {
  log.push(...write.entries);
  task.seq += write.entries.length;
  task.history.push(...write.history);
  task.inbox = task.inbox.filter(({ id }) => !write.taken.includes(id));
  if (write.forgetSteps) task.steps = [];
  for (const step of write.steps) replaceByKey(task.steps, step);
  for (const record of write.journal ?? []) replaceByKey(task.journal, record);
  if (write.head !== undefined) task.head = write.head;
  if (write.release) delete task.node;
  const { end } = write;
  if (end === undefined) return { status: "ok" };
  if (end.unlessInbox && task.inbox.some(({ kind }) => kind === "message")) return { status: "inbox" };
  for (const { id, kind, body, sealed } of task.inbox)
    if (kind === "message" && !sealed) task.history.push({ after: task.seq, body, inbox: id });
  task.history.push(...end.history);
  log.push(end.entry);
  task.seq = end.entry.seq;
  task.head = end.head;
  task.inbox = [];
  task.steps = [];
  delete task.node;
  if (end.artifacts !== undefined) task.artifacts = end.artifacts;
  return { status: "ok" };
}

/** Replaces the record with the same key in its place, or adds it at the end. */
export function replaceByKey<T extends { readonly key: string }>(records: T[], record: T): void {
  const index = records.findIndex(({ key }) => key === record.key);
  if (index === -1) records.push(record);
  else records[index] = record;
}

export function recordOf(task: TaskDocument, options: Omit<GetOptions, "scope">): TaskRecord {
  const { largeBytes = Number.POSITIVE_INFINITY } = options;
  const { contextId, scope, dialect, at, parent, root } = task.create;
  const { id, head, seq, firstSeq, epoch, node } = task;
  const range = historyRange(task, options);
  const history = task.history.slice(range.from, range.to);
  const isLarge = bytesOf(history) > largeBytes;
  // Without the log, the artifacts cannot be computed again: never leave them out.
  const hasArtifacts = options.artifacts && (firstSeq > 1 || (task.artifacts?.length ?? 0) <= largeBytes);
  return {
    ...{ id, contextId, scope, dialect, createdAt: at, head, seq, firstSeq, epoch },
    ...(parent !== undefined && { parent }),
    ...(root !== undefined && { root }),
    ...(node !== undefined && { node }),
    history: isLarge ? [] : history,
    ...(isLarge && { largeHistory: range }),
    ...(hasArtifacts && task.artifacts !== undefined && { artifacts: task.artifacts }),
  };
}

export function historyRange(
  { history }: TaskDocument,
  options: Pick<GetOptions, "history" | "upTo">,
): { readonly from: number; readonly to: number } {
  const { upTo = Number.POSITIVE_INFINITY, history: limit = Number.POSITIVE_INFINITY } = options;
  const to = history.filter(({ after }) => after <= upTo).length;
  return { from: Math.max(0, to - limit), to };
}

export function bytesOf(entries: readonly { readonly body: string }[]): number {
  return entries.reduce((sum, { body }) => sum + body.length, 0);
}

/** The first entries with together at most `maxBytes` bytes; at least one. */
export function firstBytes<T>(entries: readonly T[], maxBytes: number, bytes: (entry: T) => number): T[] {
  let sum = 0;
  const page: T[] = [];
  for (const entry of entries) {
    sum += bytes(entry);
    if (page.length > 0 && sum > maxBytes) break;
    page.push(entry);
  }
  return page;
}
