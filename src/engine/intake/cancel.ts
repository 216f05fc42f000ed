import { uuidv7 } from "../../internal/uuid.ts";
import { A2AError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import type { CancelResult } from "../api.ts";
import type { EngineParts } from "../parts.ts";

/**
 * Posts a cancel request to the task's inbox and waits for the event that ends the task, whether canceled or not. Resolves with `undefined` if
 * the task does not exist. Rejects with `unavailable` if the request cannot be stored, or the server shuts down first.
 */
export async function cancelTask(
  parts: EngineParts,
  scope: Scope,
  id: TaskId,
): Promise<Exclude<CancelResult, "not-found"> | undefined> {
  const { feeds, committer, runs, environment, isClosing } = parts;
  const feed = await feeds.acquire(id, scope);
  if (feed === undefined) return undefined;
  try {
    if (feed.ended) return feed.state === "canceled" ? "repeated" : "too-late";
    const entry = { id: uuidv7(), kind: "cancel", body: "{}", sealed: false, at: environment.clock.now() } as const;
    const post = { kind: "post", task: id, entry, maxWaiting: Number.POSITIVE_INFINITY } as const;
    const delivered = committer.submit(post, (known) => {
      if (known.status === "ok") runs.deliver(id, entry, known.node);
    });
    const outcome = await delivered.catch((cause: unknown) => {
      throw new A2AError("unavailable", "The cancel request could not be stored; try again in 5 s.", {
        cause,
        retryAfter: 5,
      });
    });
    if (outcome.status === "not-found") return undefined;
    while (!feed.ended && !isClosing()) {
      if (outcome.status === "ended") await feeds.refresh([id]);
      if (feed.isGone) return undefined;
      if (!feed.ended) await new Promise<void>((resolve) => feed.onChange(resolve));
    }
    // The request is in the inbox: after the restart it ends the task.
    if (!feed.ended) throw new A2AError("unavailable", "The server is shutting down.", { retryAfter: 1 });
    return feed.state === "canceled" ? "canceled" : "too-late";
  } finally {
    feeds.release(feed);
  }
}
