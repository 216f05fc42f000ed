import { A2AError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Submission, Submitted, Ticket } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import { ticketOf } from "../read/ticket.ts";
import { entriesOf, onceEntry } from "../record/idempotency-entry.ts";
import { readRunner } from "../record/runner-record.ts";
import { messageDigest } from "./message-digest.ts";

/** What makes a send count once. */
export interface Once {
  /** What was made by the same message id at this time or later counts (store time). */
  readonly since: number;
  /** Stands for what the message says. */
  readonly digest: string;
}

/**
 * Takes in a message that is to count once. Where the same one came before, its caller gets the task it made then; where it is just
 * coming in, this one waits for what becomes of that. `work` is done with it otherwise; it must not resolve before
 * everything is in the store.
 */
export async function submitOnce(
  parts: EngineParts,
  submission: Submission,
  { within, work }: { readonly within: number; readonly work: (once: Once) => Promise<Submitted> },
): Promise<Submitted> {
  const { sendsUnderWay, environment } = parts;
  const { scope, message } = submission;
  const key = JSON.stringify([scope.agent, scope.tenant, scope.owner, message.messageId]);
  const digest = messageDigest(submission);
  for (let other = sendsUnderWay.get(key); other !== undefined; other = sendsUnderWay.get(key)) {
    if (other.digest !== digest) throw conflict();
    // What that one failed for need not stop this one.
    const submitted = await other.result.catch(() => undefined);
    if (submitted !== undefined) return submitted;
  }
  const once: Once = { since: environment.clock.now() - within, digest };
  const result = firstOrRepeated(parts, submission, { once, work });
  sendsUnderWay.set(key, { digest, result });
  try {
    return await result;
  } finally {
    sendsUnderWay.delete(key);
  }
}

async function firstOrRepeated(
  parts: EngineParts,
  submission: Submission,
  { once, work }: { readonly once: Once; readonly work: (once: Once) => Promise<Submitted> },
): Promise<Submitted> {
  const ticket = await madeBefore(parts, submission, once);
  return ticket === undefined ? work(once) : { kind: "task", ticket };
}

/** The task that the same message has made. Rejects with `conflict` where it was another message of the same id. */
export async function madeBefore(
  { store }: EngineParts,
  { scope, message }: Submission,
  { since, digest }: Once,
): Promise<Ticket | undefined> {
  const trace = await store.findByMessage(scope, message.messageId);
  if (trace === undefined || trace.createdAt < since) return undefined;
  // One that was not to count once left no digest: then its id must do.
  if (trace.digest !== undefined && trace.digest !== digest) throw conflict();
  const record = await store.get(trace.task, { scope, artifacts: false, history: 0 });
  return record === undefined ? undefined : ticketOf(record);
}

/** The inbox entry that the same message has become in a task, read or not. Rejects with `conflict` as above. */
export async function toldBefore(
  { store }: EngineParts,
  task: TaskId,
  { messageId, digest }: { readonly messageId: string; readonly digest: string },
): Promise<string | undefined> {
  const beginning = entriesOf(messageId);
  const isSame = (id: string | undefined): boolean => id?.startsWith(beginning) === true;
  // In this order: what is taken out of the inbox meanwhile is found where it went.
  const waiting = (await store.inbox(task)).find(({ id }) => isSame(id))?.id;
  const found = waiting ?? (await takenBefore(store, task, isSame));
  if (found !== undefined && found !== onceEntry(messageId, digest)) throw conflict();
  return found;
}

async function takenBefore(
  store: EngineParts["store"],
  task: TaskId,
  isSame: (id: string | undefined) => boolean,
): Promise<string | undefined> {
  const record = await store.get(task, { artifacts: false });
  if (record === undefined) return undefined;
  const kept = record.history.find(({ inbox }) => isSame(inbox))?.inbox;
  return kept ?? readRunner(record.head.runner).unkept?.find(isSame);
}

function conflict(): A2AError {
  const field = "message.messageId";
  const description = "was used for another message a short while ago; another message needs an id of its own";
  return new A2AError("conflict", `${field}: ${description}`, { violations: [{ field, description }] });
}
