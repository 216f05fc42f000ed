import type { TaskId } from "../protocol/ids.ts";
import type { OriginQueue } from "./origin-scheduler.ts";

/**
 * What this process keeps in memory of a webhook it sees to. Everything else is read when its turn comes, so that ten thousand of them
 * that wait cost next to nothing.
 */
export interface ClaimedWebhook {
  readonly task: TaskId;
  readonly id: string;
  /** That of the claim. */
  readonly epoch: number;
  readonly originQueue: OriginQueue<ClaimedWebhook>;
  /**
   * `waiting`: for something to tell. `resting`: for another try, whatever happens meanwhile. `queued`, `working`: for its turn, and having
   * it. `gone`: it is no longer ours to see to.
   */
  phase: "waiting" | "resting" | "queued" | "working" | "gone";
  /** Something happened while it was at work. */
  isHinted: boolean;
  /** The last seq it is known to have been told. */
  told: number;
  /** When to look again without being told to. */
  alarmAt: number;
  /** Until then, further chunks alone are no reason to tell the whole task again; another status than this one is. */
  quietUntil: number;
  status: string;
  /** Calls off what is under way. */
  abort: AbortController | undefined;
}

/** Those of all tasks. */
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

  /** Tasks of which somebody waits to hear. It may go on while some come and go. */
  *waitingTasks(): Generator<TaskId, void> {
    for (const [task, all] of this.#byTask) if (all.some(({ phase }) => phase === "waiting")) yield task;
  }

  *all(): Generator<ClaimedWebhook, void> {
    for (const all of this.#byTask.values()) yield* all;
  }
}
