import { A2AError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { InboxEntry } from "../../store/contract.ts";
import type { Submission, Submitted, Ticket } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import { idempotencyEntryId, idempotencyEntryPrefix } from "../record/idempotency-entry.ts";
import { readRunner } from "../record/runner-record.ts";
import { messageDigest } from "./message-digest.ts";
import { ticketOf } from "./ticket.ts";

/** How to recognise the repetition of a send. A repetition has the same scope, message id and digest, within the window. */
export interface Idempotency {
  /** Beginning of the idempotency window (store time in milliseconds): tasks created earlier do not count. */
  readonly since: number;
  /** Digest of the message's content. The same message id with another digest is a `conflict`. */
  readonly digest: string;
}

/**
 * Submits a message idempotently (A2A 1.0 §3.3.1). A repetition gets the task that the earlier send created; while the earlier send is not
 * stored yet, the repetition waits for it. Otherwise calls `work`, which must resolve only after everything is stored. Rejects with `conflict`
 * if the message id was used for a message with other content.
 */
export async function submitIdempotent(
  parts: EngineParts,
  submission: Submission,
  { window, work }: { readonly window: number; readonly work: (idempotency: Idempotency) => Promise<Submitted> },
): Promise<Submitted> {
  const { pendingSends, environment } = parts;
  const { scope, request } = submission;
  const key = JSON.stringify([scope.agent, scope.tenant, scope.owner, request.message.messageId]);
  const digest = messageDigest(request);
  for (let other = pendingSends.get(key); other !== undefined; other = pendingSends.get(key)) {
    if (other.digest !== digest) throw conflict();
    // If the earlier send fails, this one makes its own attempt.
    const submitted = await other.result.catch(() => undefined);
    if (submitted !== undefined) return submitted;
  }
  const idempotency: Idempotency = { since: environment.clock.now() - window, digest };
  const result = submitUnlessRepeated(parts, submission, { idempotency, work });
  pendingSends.set(key, { digest, result });
  try {
    return await result;
  } finally {
    pendingSends.delete(key);
  }
}

async function submitUnlessRepeated(
  parts: EngineParts,
  submission: Submission,
  {
    idempotency,
    work,
  }: { readonly idempotency: Idempotency; readonly work: (idempotency: Idempotency) => Promise<Submitted> },
): Promise<Submitted> {
  const ticket = await findEarlierTask(parts, submission, idempotency);
  return ticket === undefined ? work(idempotency) : { kind: "task", ticket };
}

/** The task that an earlier send of the same message created. Rejects with `conflict` if that message had other content. */
export async function findEarlierTask(
  parts: EngineParts,
  { scope, request }: Submission,
  { since, digest }: Idempotency,
): Promise<Ticket | undefined> {
  const { store } = parts;
  const trace = await store.findByMessage(scope, request.message.messageId);
  if (trace === undefined || trace.createdAt < since) return undefined;
  // A task that was created without idempotency has no digest: compare the message id only.
  if (trace.digest !== undefined && trace.digest !== digest) throw conflict();
  const record = await store.get(trace.task, { scope, artifacts: false, history: 0 });
  return record === undefined ? undefined : ticketOf(parts, record);
}

/** An earlier send of the same message to the same task. */
export interface EarlierMessage {
  /** Id of its inbox entry. */
  readonly id: string;
  /** The entry; `undefined`: the run consumed it. */
  readonly waiting: InboxEntry | undefined;
}

/** Finds an earlier send of the same message to this task, consumed or not. Rejects with `conflict` if that message had other content. */
export async function findEarlierMessage(
  { store }: EngineParts,
  task: TaskId,
  { messageId, digest }: { readonly messageId: string; readonly digest: string },
): Promise<EarlierMessage | undefined> {
  const prefix = idempotencyEntryPrefix(messageId);
  const isSame = (id: string | undefined): boolean => id?.startsWith(prefix) === true;
  // Read the inbox first: an entry that is consumed between the two reads is then in the history.
  const waiting = (await store.inbox(task)).find(({ id }) => isSame(id));
  const id = waiting?.id ?? (await findConsumedMessage(store, task, isSame));
  if (id !== undefined && id !== idempotencyEntryId(messageId, digest)) throw conflict();
  return id === undefined ? undefined : { id, waiting };
}

async function findConsumedMessage(
  store: EngineParts["store"],
  task: TaskId,
  isSame: (id: string | undefined) => boolean,
): Promise<string | undefined> {
  const record = await store.get(task, { artifacts: false });
  if (record === undefined) return undefined;
  const inHistory = record.history.find(({ inbox }) => isSame(inbox))?.inbox;
  return inHistory ?? readRunner(record.head.runner).consumedSealed?.find(isSame);
}

function conflict(): A2AError {
  const field = "message.messageId";
  const description = "was used for a different message recently; use a new messageId for each message";
  return new A2AError("conflict", `${field}: ${description}`, { violations: [{ field, description }] });
}
