import { A2AError } from "../../protocol/error.ts";
import type { SubmittedWebhook } from "../api.ts";
import type { EngineParts } from "../parts.ts";
import type { Feed } from "../read/feed.ts";

/**
 * Sets the webhook that came with a message to this task, before the message itself: it is told of all that comes of it, and where it
 * is refused nothing of the message is kept. Resolves with how to take it back, should the message be refused after all.
 */
export async function setWebhook(
  { store, committer, environment }: EngineParts,
  { task }: Feed,
  { draft, maxPerTask, only }: SubmittedWebhook,
): Promise<() => Promise<void>> {
  const { maxInbox } = environment.limits;
  const [waiting, before] = await Promise.all([store.inbox(task.id), store.webhooks(task.id)]);
  // Sets nothing for a message that will not be taken.
  if (waiting.filter(({ kind }) => kind === "message").length >= maxInbox) {
    throw new A2AError("resource-exhausted", `${maxInbox} messages wait for this task already; try again later.`, {
      retryAfter: 5,
    });
  }
  const { scope, id } = task;
  const outcome = await committer.submit({ kind: "webhook-set", task: id, scope, webhook: draft, maxPerTask, only });
  if (outcome.status === "full") {
    throw new A2AError("resource-exhausted", `A task may have ${maxPerTask} push notification configurations.`);
  }
  if (outcome.status !== "ok") throw new A2AError("task-not-found", "Task not found");
  // One that was there before under the same id was to be replaced either way.
  const isNew = !before.some((known) => known.id === draft.id && known.state !== "removed");
  return async () => {
    if (isNew) await committer.submit({ kind: "webhook-delete", task: id, id: draft.id });
  };
}
