import type {
  ContextWrite,
  HistoryEntry,
  JournalRecord,
  StoreOperation,
  TaskCreate,
  TaskHead,
  TaskWrite,
} from "../../contract.ts";
import { joinApart, joinEntries } from "./log-text.ts";
import { packDraft, packWebhookOperation } from "./pack-webhook.ts";
import {
  CLAIM,
  CONTEXT_WRITE,
  CREATE,
  END,
  EXTRAS,
  FORGET,
  HEAD,
  IDEMPOTENT,
  JOURNAL,
  type Packed,
  type PackedValue,
  POST,
  RELATED,
  RELEASE,
  SHARED,
  UNLESS_INBOX,
  WEBHOOK,
  WRITE,
} from "./packed.ts";
import { STATE_CODE } from "./state-code.ts";

export function pack(operations: readonly StoreOperation[]): Packed {
  const packed: PackedValue[] = [];
  for (const operation of operations) {
    if (operation.kind === "write") packWrite(packed, operation);
    else if (operation.kind === "claim") packed.push(CLAIM, operation.task, operation.node, operation.force ? 1 : 0);
    else if (operation.kind === "post") {
      const { id, kind, body, sealed, at } = operation.entry;
      packed.push(POST, operation.task, operation.maxWaiting, id, kind === "cancel" ? 1 : 0, body, sealed ? 1 : 0, at);
      packed.push(operation.uniquePrefix ?? null, operation.expectedSeq ?? null);
    } else if (operation.kind === "context-write") packContextWrite(packed, operation);
    else packWebhookOperation(packed, operation);
  }
  return packed;
}

function packWrite(packed: PackedValue[], write: TaskWrite): void {
  const { create, end, entries, journal = NO_RECORDS } = write;
  // The end replaces the head in the same write: do not send both.
  const head = end !== undefined && (create !== undefined || !end.unlessInbox) ? undefined : write.head;
  const hasExtras = write.taken.length > 0 || write.steps.length > 0;
  const flags =
    (write.release ? RELEASE : 0) |
    (write.forgetSteps ? FORGET : 0) |
    (create === undefined ? 0 : CREATE | (create.contextShared ? SHARED : 0)) |
    (head === undefined ? 0 : HEAD) |
    (end === undefined ? 0 : END | (end.unlessInbox ? UNLESS_INBOX : 0)) |
    (hasExtras ? EXTRAS : 0) |
    (create?.idempotency === undefined ? 0 : IDEMPOTENT) |
    (create?.webhook === undefined ? 0 : WEBHOOK) |
    (journal.length === 0 ? 0 : JOURNAL) |
    (isRelated(create) ? RELATED : 0);
  const text = end === undefined ? { lines: joinEntries(entries), end: "" } : joinApart(entries, end.entry);
  packed.push(WRITE, flags, write.task, write.epoch, seqBefore(write), entries.length, text.lines);
  packHistory(packed, write.history);
  if (create !== undefined) {
    packed.push(create.scope.agent, create.scope.tenant, create.scope.owner);
    packed.push(create.contextId, create.dialect, create.at, create.node, create.messageId ?? null);
    if (create.idempotency !== undefined) packed.push(create.idempotency.since, create.idempotency.digest);
    if (create.webhook !== undefined) packDraft(packed, create.webhook);
    if (isRelated(create)) packed.push(create.parent ?? null, create.root ?? null);
  }
  if (head !== undefined) packHead(packed, head);
  if (end !== undefined) {
    packHead(packed, end.head);
    packed.push(text.end, end.artifacts ?? null);
    packHistory(packed, end.history);
  }
  if (journal.length > 0) {
    packed.push(journal.length);
    for (const { key, body } of journal) packed.push(key, body);
  }
  if (!hasExtras) return;
  packed.push(write.taken.length, ...write.taken, write.steps.length);
  for (const { key, value } of write.steps) packed.push(key, value);
}

function packContextWrite(packed: PackedValue[], write: ContextWrite): void {
  const { task, epoch, key, value, expected, maxBytes, step } = write;
  packed.push(CONTEXT_WRITE, task, epoch, key, value ?? null, expected ?? null, maxBytes);
  packed.push(step?.key ?? null, step?.value ?? null);
}

const NO_RECORDS: readonly JournalRecord[] = [];

function isRelated(create: TaskCreate | undefined): create is TaskCreate {
  return create?.parent !== undefined || create?.root !== undefined;
}

/** The seq before the first entry; `null` without entries, -1 if the entries are not consecutive. */
function seqBefore({ entries, end }: TaskWrite): number | null {
  const first = entries[0] ?? end?.entry;
  if (first === undefined) return null;
  let next = first.seq;
  for (const entry of entries) if (entry.seq !== next++) return -1;
  return end === undefined || end.entry.seq === next ? first.seq - 1 : -1;
}

function packHead(packed: PackedValue[], head: TaskHead): void {
  packed.push(STATE_CODE[head.state], head.statusAt, head.active ? 1 : 0, head.wakeAt ?? null, head.status);
  packed.push(head.metadata ?? null, head.runner);
}

function packHistory(packed: PackedValue[], history: readonly HistoryEntry[]): void {
  packed.push(history.length);
  for (const { after, body, inbox } of history) packed.push(after, body, inbox ?? null);
}
