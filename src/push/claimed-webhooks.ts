import type { TaskId } from "../protocol/ids.ts";
import type { DeliveryJournal } from "./delivery-journal.ts";
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
  /** Webhooks of one origin share their turns. */
  readonly originQueue: OriginQueue<ClaimedWebhook>;
  /** Ends the watch for the task's events. */
  readonly unwatch: () => void;
  /**
   * `waiting`: for the next event. `resting`: for the next retry; events do not wake it. `queued`: for its turn. `working`: it has its turn.
   * `released`: this process is no longer responsible for it.
   */
  phase: "waiting" | "resting" | "queued" | "working" | "released";
  /** Events arrived while it was not waiting. */
  hasNewEvents: boolean;
  /** The last seq known to be delivered. */
  deliveredSeq: number;
  /** When the oldest event that is not delivered was first noticed; 0: everything was delivered. */
  pendingSince: number;
  /** When to queue it without a new event; 0: never. */
  wakeAt: number;
  /** Until then, chunks alone do not cause another whole-task notification; a status other than `status` does. */
  quietUntil: number;
  /** A mark of the status that the last whole-task notification had; see `quietUntil`. */
  status: string;
  /** Aborts the request on its way. */
  abort: AbortController | undefined;
  /** Created with the first delivery. */
  journal: DeliveryJournal | undefined;
}

/** The webhooks of a process, for metrics. */
export interface WebhookCounts {
  /** In memory. */
  readonly claimed: number;
  /** Waiting for their turn, or for the next retry. */
  readonly queued: number;
  readonly resting: number;
  /** Milliseconds since the oldest event that is not delivered was noticed; 0: everything was delivered. */
  readonly oldestPendingMs: number;
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

  /** Has no effect the second time. */
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

  counts(now: number): WebhookCounts {
    let [queued, resting, oldest] = [0, 0, now];
    for (const { phase, pendingSince } of this.all()) {
      if (phase === "queued") queued += 1;
      else if (phase === "resting") resting += 1;
      if (pendingSince > 0 && pendingSince < oldest) oldest = pendingSince;
    }
    return { claimed: this.#size, queued, resting, oldestPendingMs: now - oldest };
  }

  *all(): Generator<ClaimedWebhook, void> {
    for (const all of this.#byTask.values()) yield* all;
  }
}
