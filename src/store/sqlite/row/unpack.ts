import type { TaskId } from "../../../protocol/ids.ts";
import type { ContextWrite, HistoryEntry } from "../../contract.ts";
import { unpackDraft, unpackWebhookCommand } from "./pack-webhook.ts";
import {
  CLAIM,
  CONTEXT_WRITE,
  type Command,
  CREATE,
  type CreateCommand,
  END,
  type EndCommand,
  EXTRAS,
  FORGET,
  HEAD,
  type HeadCommand,
  IDEMPOTENT,
  JOURNAL,
  type Packed,
  POST,
  RELATED,
  RELEASE,
  SHARED,
  UNLESS_INBOX,
  WEBHOOK,
  WRITE,
  type WriteCommand,
} from "./packed.ts";
import { PackedReader } from "./packed-reader.ts";

export function unpack(packed: Packed): Command[] {
  const reader = new PackedReader(packed);
  const commands: Command[] = [];
  while (!reader.isAtEnd) commands.push(unpackCommand(reader));
  return commands;
}

function unpackCommand(reader: PackedReader): Command {
  const kind = reader.number();
  if (kind === WRITE) return unpackWrite(reader);
  const task = reader.text() as TaskId; // Safe cast: packed from a TaskId.
  if (kind === CLAIM) return { kind: "claim", task, node: reader.text(), force: reader.flag() };
  if (kind === CONTEXT_WRITE) return unpackContextWrite(reader, task);
  if (kind !== POST) return unpackWebhookCommand(reader, kind, task);
  const maxWaiting = reader.number();
  const id = reader.text();
  const isCancel = reader.flag();
  const entry = {
    id,
    kind: isCancel ? "cancel" : "message",
    body: reader.text(),
    sealed: reader.flag(),
    at: reader.number(),
  } as const;
  const uniquePrefix = reader.textOrNull() ?? undefined;
  const expectedSeq = reader.numberOrNull() ?? undefined;
  return { kind: "post", task, entry, maxWaiting, uniquePrefix, expectedSeq };
}

function unpackContextWrite(reader: PackedReader, task: TaskId): ContextWrite {
  const epoch = reader.number();
  const key = reader.text();
  const value = reader.textOrNull();
  const expected = reader.numberOrNull();
  const maxBytes = reader.number();
  const stepKey = reader.textOrNull();
  const stepValue = reader.textOrNull();
  return {
    kind: "context-write",
    task,
    epoch,
    key,
    maxBytes,
    ...(value !== null && { value }),
    ...(expected !== null && { expected }),
    ...(stepKey !== null && stepValue !== null && { step: { key: stepKey, value: stepValue } }),
  };
}

function unpackWrite(reader: PackedReader): WriteCommand {
  const flags = reader.number();
  const has = (flag: number): boolean => (flags & flag) !== 0;
  // Read in the order in which `pack` wrote.
  const task = reader.text();
  const epoch = reader.number();
  const after = reader.numberOrNull();
  const count = reader.number();
  const lines = reader.text();
  const history = unpackHistory(reader);
  const create = has(CREATE) ? unpackCreate(reader, has) : undefined;
  const head = has(HEAD) ? unpackHead(reader) : undefined;
  const end = has(END) ? unpackEnd(reader, has(UNLESS_INBOX)) : undefined;
  const journal = has(JOURNAL) ? reader.list(() => ({ key: reader.text(), body: reader.text() })) : [];
  const taken = has(EXTRAS) ? reader.list(() => reader.text()) : [];
  const steps = has(EXTRAS) ? reader.list(() => ({ key: reader.text(), value: reader.text() })) : [];
  const release = has(RELEASE);
  const forgetSteps = has(FORGET);
  return {
    kind: "write",
    task,
    epoch,
    after,
    count,
    lines,
    release,
    forgetSteps,
    create,
    head,
    end,
    history,
    taken,
    steps,
    journal,
  };
}

function unpackCreate(reader: PackedReader, has: (flag: number) => boolean): CreateCommand {
  const scope = reader.scope();
  const context = reader.text();
  const dialect = reader.text();
  const at = reader.number();
  const node = reader.text();
  const messageId = reader.textOrNull();
  const idempotency = has(IDEMPOTENT) ? { since: reader.number(), digest: reader.text() } : undefined;
  const webhook = has(WEBHOOK) ? unpackDraft(reader) : undefined;
  const parent = has(RELATED) ? reader.textOrNull() : null;
  const root = has(RELATED) ? reader.textOrNull() : null;
  return { scope, context, shared: has(SHARED), dialect, at, node, messageId, idempotency, webhook, parent, root };
}

function unpackHead(reader: PackedReader): HeadCommand {
  const state = reader.number();
  const statusAt = reader.number();
  const active = reader.number();
  const wakeAt = reader.numberOrNull();
  const status = reader.text();
  const metadata = reader.textOrNull();
  return { state, statusAt, active, wakeAt, status, metadata, runner: reader.text() };
}

function unpackEnd(reader: PackedReader, unlessInbox: boolean): EndCommand {
  const head = unpackHead(reader);
  const line = reader.text();
  const artifacts = reader.textOrNull();
  return { head, line, artifacts, unlessInbox, history: unpackHistory(reader) };
}

function unpackHistory(reader: PackedReader): HistoryEntry[] {
  return reader.list(() => {
    const after = reader.number();
    const body = reader.text();
    const inbox = reader.textOrNull();
    return inbox === null ? { after, body } : { after, body, inbox };
  });
}
