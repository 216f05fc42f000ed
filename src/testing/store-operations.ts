import type { ArtifactId, ContextId, TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import { writeEvent, writeStatus } from "../protocol/serial.ts";
import type { TaskState } from "../protocol/state.ts";
import type {
  InboxEntry,
  InboxPost,
  LeaseClaim,
  LogEntry,
  TaskCreate,
  TaskEnd,
  TaskHead,
  TaskWrite,
  WebhookAdvance,
  WebhookClaim,
  WebhookDelete,
  WebhookDraft,
  WebhookRevive,
  WebhookSet,
} from "../store/contract.ts";

/** Short ways to spell what a store is asked, for tests of stores and of what stands on them. */

export const SCOPE: Scope = { agent: "echo", tenant: "", owner: "ada" };
export const NODE = "node-1";
/** A time in ms to begin with: all example times count from here. */
export const START = 1_760_000_000_000;

/** The n-th example id; they sort as their numbers do. */
export function taskId(n: number): TaskId {
  return `task-${String(n).padStart(8, "0")}` as TaskId; // Ids are opaque: any string will do here.
}

export function contextId(n: number): ContextId {
  return `context-${n}` as ContextId; // As above.
}

export function statusEntry(seq: number, state: TaskState = "working"): LogEntry {
  return { seq, body: writeEvent({ kind: "status", status: { state, timestamp: new Date(START).toISOString() } }) };
}

/** A chunk of the artifact `result`; the first one makes it. */
export function chunkEntry(seq: number, text: string, append = true): LogEntry {
  const artifactId = "result" as ArtifactId; // As above.
  const body = writeEvent({ kind: "artifact", artifact: { artifactId, parts: [{ text }] }, append, lastChunk: false });
  return { seq, body };
}

export function headOf(state: TaskState, details: Partial<TaskHead> = {}): TaskHead {
  return {
    state,
    status: writeStatus({ state, timestamp: new Date(START).toISOString() }),
    statusAt: START,
    runner: "{}",
    active: state === "submitted" || state === "working",
    ...details,
  };
}

export function writeOf(task: TaskId, details: Partial<TaskWrite> = {}): TaskWrite {
  return {
    kind: "write",
    task,
    epoch: 1,
    entries: [],
    history: [],
    taken: [],
    steps: [],
    forgetSteps: false,
    release: false,
    ...details,
  };
}

/** Makes a working task, with one status entry unless told otherwise. */
export function createOf(task: TaskId, create: Partial<TaskCreate> = {}, details: Partial<TaskWrite> = {}): TaskWrite {
  return writeOf(task, {
    create: {
      contextId: contextId(1),
      contextShared: false,
      scope: SCOPE,
      dialect: "1.0/jsonrpc",
      at: START,
      node: NODE,
      ...create,
    },
    entries: [statusEntry(1)],
    head: headOf("working"),
    ...details,
  });
}

export function endOf(seq: number, details: Partial<TaskEnd> = {}): TaskEnd {
  const state = details.head?.state ?? "completed";
  return { entry: statusEntry(seq, state), head: headOf(state), history: [], unlessInbox: false, ...details };
}

export function postOf(
  task: TaskId,
  entry: Partial<InboxEntry> & { readonly id: string },
  maxWaiting = 100,
): InboxPost {
  const body = `{"messageId":${JSON.stringify(entry.id)}}`;
  return { kind: "post", task, entry: { kind: "message", body, sealed: false, at: START, ...entry }, maxWaiting };
}

export function claimOf(task: TaskId, node: string, force = false): LeaseClaim {
  return { kind: "claim", task, node, force };
}

export function webhookOf(id: string, details: Partial<WebhookDraft> = {}): WebhookDraft {
  return { id, dialect: "1.0/jsonrpc", body: `{"url":"https://${id}.example"}`, unnamed: false, at: START, ...details };
}

export function setWebhookOf(task: TaskId, id: string, details: Partial<WebhookSet> = {}): WebhookSet {
  return { kind: "webhook-set", task, scope: SCOPE, webhook: webhookOf(id), maxPerTask: 10, only: false, ...details };
}

export function deleteWebhookOf(task: TaskId, id: string): WebhookDelete {
  return { kind: "webhook-delete", task, id };
}

export function claimWebhookOf(task: TaskId, id: string, node: string = NODE): WebhookClaim {
  return { kind: "webhook-claim", task, id, node };
}

export function advanceOf(
  task: TaskId,
  id: string,
  details: Partial<WebhookAdvance> & { readonly epoch: number },
): WebhookAdvance {
  return { kind: "webhook-advance", task, id, cursor: 1, attempts: 0, nextAt: START, state: "active", ...details };
}

export function reviveOf(task: TaskId, id: string, at: number = START): WebhookRevive {
  return { kind: "webhook-revive", task, id, at };
}
