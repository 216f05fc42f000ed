import type { ArtifactId, ContextId, TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import { readEvent, writeEvent, writeStatus } from "../protocol/serial.ts";
import type { TaskState } from "../protocol/state.ts";
import { SpanMetadata } from "../protocol/trace-context.ts";
import type {
  ClaimQuery,
  ContextWrite,
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

// Builders of store operations with defaults, for tests of stores and of code that uses a store.

/** The scope of all example tasks. */
export const SCOPE: Scope = { agent: "echo", tenant: "", owner: "ada" };
export const NODE = "node-1";
/** Milliseconds since 1970: the time at which each test starts. */
export const START = 1_760_000_000_000;

/** The n-th example id. Example ids sort in the order of their numbers. */
export function taskId(n: number): TaskId {
  return `task-${String(n).padStart(8, "0")}` as TaskId; // Safe: ids are opaque, so any string is valid.
}

export function contextId(n: number): ContextId {
  return `context-${n}` as ContextId; // Safe: ids are opaque.
}

export function statusEntry(seq: number, state: TaskState = "working"): LogEntry {
  return { seq, body: writeEvent({ kind: "status", status: { state, timestamp: new Date(START).toISOString() } }) };
}

/** A chunk of the artifact `result`. Pass `append: false` for the first chunk. */
export function chunkEntry(seq: number, text: string, append = true): LogEntry {
  const artifactId = "result" as ArtifactId; // Safe: ids are opaque.
  const body = writeEvent({ kind: "artifact", artifact: { artifactId, parts: [{ text }] }, append, lastChunk: false });
  return { seq, body };
}

/** The same entry, written by the n-th example span of a trace. */
export function tracedEntry({ body, ...entry }: LogEntry, span = 1): LogEntry {
  const ids = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: String(span).padStart(16, "0"), flags: 1 };
  return { ...entry, body: writeEvent({ ...readEvent(body), metadata: new SpanMetadata(ids) }) };
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

/** Creates a working task. Default: with one status entry. */
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
  return {
    kind: "post",
    task,
    entry: { kind: "message", body, sealed: false, at: START, ...entry },
    maxWaiting,
  };
}

/** A post of an idempotent message. */
export function uniquePostOf(task: TaskId, id: string, uniquePrefix: string | undefined): InboxPost {
  return { ...postOf(task, { id }), uniquePrefix };
}

export function claimOf(task: TaskId, node: string, force = false): LeaseClaim {
  return { kind: "claim", task, node, force };
}

/** A query for everything that is due for the agent of the example tasks. */
export function claimQuery(node: string = NODE, details: Partial<ClaimQuery> = {}): ClaimQuery {
  return { node, agents: [SCOPE.agent], limit: 100, ...details };
}

export function contextWriteOf(task: TaskId, key: string, details: Partial<ContextWrite> = {}): ContextWrite {
  return { kind: "context-write", task, epoch: 1, key, maxBytes: 1000, ...details };
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
