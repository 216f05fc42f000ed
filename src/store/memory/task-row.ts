import type { TaskId } from "../../protocol/ids.ts";
import type {
  HistoryEntry,
  InboxEntry,
  JournalRecord,
  LogEntry,
  Outcome,
  StepRecord,
  TaskCreate,
  TaskEnd,
  TaskHead,
  TaskWrite,
} from "../contract.ts";
import { INBOX, OK } from "../outcomes.ts";
import type { WebhookRow } from "./webhook-row.ts";

/** A task in the memory store. */
export interface TaskRow {
  readonly id: TaskId;
  readonly create: TaskCreate;
  head: TaskHead;
  seq: number;
  firstSeq: number;
  epoch: number;
  node: string | undefined;
  ended: boolean;
  log: LogEntry[];
  history: HistoryEntry[];
  inbox: InboxEntry[];
  readonly steps: Map<string, StepRecord>;
  readonly journal: Map<string, JournalRecord>;
  artifacts: string | undefined;
  /** By id; `undefined`: none. */
  webhooks: Map<string, WebhookRow> | undefined;
}

/** A new task before its first write is applied; `undefined` if the write has neither a head nor an end. */
export function newRow(id: TaskId, create: TaskCreate, write: TaskWrite): TaskRow | undefined {
  const head = write.head ?? write.end?.head;
  if (head === undefined) return undefined;
  return {
    id,
    create,
    head,
    seq: 0,
    firstSeq: 1,
    epoch: 1,
    node: create.node,
    ended: false,
    log: [],
    history: [],
    inbox: [],
    steps: new Map(),
    journal: new Map(),
    artifacts: undefined,
    webhooks: undefined,
  };
}

/** Whether the entries of the write, including its end, continue the log without a gap. */
export function isContiguous(seq: number, write: TaskWrite): boolean {
  let next = seq + 1;
  for (const entry of write.entries) if (entry.seq !== next++) return false;
  return write.end === undefined || write.end.entry.seq === next;
}

/** Applies a write that has passed every check. */
export function applyWrite(row: TaskRow, write: TaskWrite): Outcome {
  for (const entry of write.entries) row.log.push(entry);
  row.seq += write.entries.length;
  for (const entry of write.history) row.history.push(entry);
  if (write.taken.length > 0) row.inbox = row.inbox.filter((entry) => !write.taken.includes(entry.id));
  if (write.forgetSteps) row.steps.clear();
  for (const step of write.steps) row.steps.set(step.key, step);
  for (const record of write.journal ?? []) row.journal.set(record.key, record);
  if (write.head !== undefined) row.head = write.head;
  if (write.release) row.node = undefined;
  if (write.end === undefined) return OK;
  if (write.end.unlessInbox && row.inbox.some((entry) => entry.kind === "message")) return INBOX;
  applyEnd(row, write.end);
  return OK;
}

function applyEnd(row: TaskRow, end: TaskEnd): void {
  for (const { id, kind, body, sealed } of row.inbox) {
    if (kind === "message" && !sealed) row.history.push({ after: row.seq, body, inbox: id });
  }
  for (const entry of end.history) row.history.push(entry);
  row.log.push(end.entry);
  row.seq = end.entry.seq;
  row.head = end.head;
  row.inbox = [];
  row.steps.clear();
  row.node = undefined;
  row.ended = true;
  row.artifacts = end.artifacts;
}
