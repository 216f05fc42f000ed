import { A2AError } from "../../protocol/error.ts";
import type { WebhookRecord } from "../../store/contract.ts";
import type { SubmittedWebhook } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";

/**
 * Stores the webhook that came with a message to an existing task. The webhook is stored before the message, so that it receives every event
 * the message causes, and so that a refused webhook refuses the message. Resolves with a function that deletes the webhook again, for a
 * message that is refused later.
 *
 * A webhook that the task has already is not stored again. Many clients send the same webhook with every message, and storing it would end the
 * claim of the node that notifies it: a notification on its way would be sent again, by another node perhaps after later ones.
 */
export async function setWebhook(
  { store, committer, environment }: EngineParts,
  { task }: Feed,
  webhook: SubmittedWebhook,
): Promise<() => Promise<void>> {
  const { draft, maxPerTask, only } = webhook;
  const { maxInbox } = environment.limits;
  const [waiting, before] = await Promise.all([store.inbox(task.id), store.webhooks(task.id)]);
  // Do not store a webhook for a message that the full inbox will refuse.
  if (waiting.filter(({ kind }) => kind === "message").length >= maxInbox) {
    throw new A2AError("resource-exhausted", `The task already has ${maxInbox} unread messages; try again in 5 s.`, {
      retryAfter: 5,
    });
  }
  if (isKept(webhook, before)) return async () => {};
  const { scope, id } = task;
  const outcome = await committer.submit({ kind: "webhook-set", task: id, scope, webhook: draft, maxPerTask, only });
  if (outcome.status === "full") {
    throw new A2AError(
      "resource-exhausted",
      `A task may have at most ${maxPerTask} push notification configurations; delete one first.`,
    );
  }
  if (outcome.status !== "ok") throw new A2AError("task-not-found", "Task not found");
  // A webhook that existed under this id stays replaced.
  const isNew = !before.some((known) => known.id === draft.id && known.state !== "removed");
  return async () => {
    if (isNew) await committer.submit({ kind: "webhook-delete", task: id, id: draft.id });
  };
}

/** The task has this webhook, active, and it is the latest one: storing it would replace nothing and change no order. */
function isKept({ draft, only, isSame }: SubmittedWebhook, before: readonly WebhookRecord[]): boolean {
  const stored = before.find(({ id }) => id === draft.id);
  if (stored?.state !== "active" || !isSame(stored)) return false;
  const others = before.filter(({ id, state }) => id !== draft.id && state !== "removed");
  return others.every(({ at, dialect }) => at < stored.at && !(only && dialect === draft.dialect));
}
