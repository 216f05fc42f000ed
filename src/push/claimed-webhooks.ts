import type { TaskId } from "../protocol/ids.ts";
import type { OriginQueue } from "./origin-scheduler.ts";

/**
 * The in-memory state of a webhook that this process has claimed. Everything else is read when its turn comes, so that ten thousand
 * waiting webhooks take a few megabytes.
 */
export interface ClaimedWebhook {
  readonly task: TaskId;
  readonly id: string;
  /** The epoch of the claim. */
  readonly epoch: number;
  readonly originQueue: OriginQueue<ClaimedWebhook>;
  /**
   * `waiting`: for the next event. `resting`: for the next retry; events do not wake it. `queued`: for its turn. `working`: it has its turn.
   * `released`: this process is no longer responsible for it.
   */
  phase: "waiting" | "resting" | "queued" | "working" | "released";
  /** Events arrived while it was not waiting. */
  hasNewEvents: boolean;
  /** The last seq known to be delivered. */
  deliveredSeq: number;
  /** When to queue it without a new event; 0: never. */
  wakeAt: number;
  /** Until then, chunks alone do not cause another whole-task notification; a status other than `status` does. */
  quietUntil: number;
  status: string;
  /** Aborts the request on its way. */
  abort: AbortController | undefined;
}

/** All webhooks that this process has claimed. */
export class ClaimedWebhooks {
  readonly #byTask = new Map<TaskId, ClaimedWebhook[]>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  of(task: TaskId): readonly ClaimedWebhook[] {
    return this.#byTask.get(task) ?? [];
  }

  find(task: TaskId, id: string): ClaimedWebhook | undefined {
    return this.of(task).find((claimed) => claimed.id === id);
  }

  add(claimed: ClaimedWebhook): void {
    this.#size += 1;
    const others = this.#byTask.get(claimed.task);
    if (others === undefined) this.#byTask.set(claimed.task, [claimed]);
    else others.push(claimed);
  }

  remove(claimed: ClaimedWebhook): void {
    const all = this.#byTask.get(claimed.task);
    const index = all?.indexOf(claimed) ?? -1;
    if (all === undefined || index < 0) return;
    this.#size -= 1;
    if (all.length === 1) this.#byTask.delete(claimed.task);
    else all.splice(index, 1);
  }

  /** Tasks with a waiting webhook. Webhooks may be added and removed during the iteration. */
  *waitingTasks(): Generator<TaskId, void> {
    for (const [task, all] of this.#byTask) if (all.some(({ phase }) => phase === "waiting")) yield task;
  }

  *all(): Generator<ClaimedWebhook, void> {
    for (const all of this.#byTask.values()) yield* all;
  }
}
