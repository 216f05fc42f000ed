import type { TaskId } from "../../protocol/ids.ts";
import type { Hint } from "../contract.ts";

/** Milliseconds for which a task counts as watched by another node after that node has announced it. */
const LASTS = 60_000;
/** Milliseconds for which a hint that was not sent is kept, for a node that begins to watch the task. After them that node has polled the store. */
const KEPT = 2000;
/** Tasks whose last hint is kept at most. */
const MOST_KEPT = 10_000;

type LogHint = Extract<Hint, { readonly kind: "log" }>;

/**
 * Which tasks are watched, here and on other nodes. The `log` hints of all other tasks are not sent: most tasks are read where they are written, and each
 * NOTIFY costs the server as much as a third of a commit.
 */
export class Interest {
  /** Tasks that this process watches, and how many times. */
  readonly #watched = new Map<TaskId, number>();
  /** Tasks that other nodes watch, and until when. */
  readonly #elsewhere = new Map<TaskId, number>();
  /** The last hints that were not sent, and when. */
  readonly #unsent = new Map<TaskId, { readonly hint: LogHint; readonly at: number }>();
  readonly #now: () => number;

  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** The tasks that this process watches. */
  get watched(): Iterable<TaskId> {
    return this.#watched.keys();
  }

  isWatchedHere(task: TaskId): boolean {
    return this.#watched.has(task);
  }

  /** Returns true if the task was not watched here before: other nodes do not know it yet. */
  add(task: TaskId): boolean {
    const before = this.#watched.get(task) ?? 0;
    this.#watched.set(task, before + 1);
    return before === 0;
  }

  remove(task: TaskId): void {
    const others = (this.#watched.get(task) ?? 0) - 1;
    if (others > 0) this.#watched.set(task, others);
    else this.#watched.delete(task);
  }

  /** The hints that a node needs. */
  needed(hints: readonly Hint[]): readonly Hint[] {
    return hints.filter((hint) => {
      if (hint.kind !== "log" || this.isWatchedHere(hint.task) || this.#isWatchedElsewhere(hint.task)) return true;
      if (this.#unsent.size >= MOST_KEPT) this.#unsent.clear();
      this.#unsent.set(hint.task, { hint, at: this.#now() });
      return false;
    });
  }

  /** Another node watches these tasks. Returns the last hints about them that were not sent, because that node may have read the store before. */
  announced(tasks: readonly TaskId[]): readonly Hint[] {
    const now = this.#now();
    return tasks.flatMap((task) => {
      this.#elsewhere.set(task, now + LASTS);
      const unsent = this.#unsent.get(task);
      this.#unsent.delete(task);
      return unsent !== undefined && unsent.at + KEPT > now ? [unsent.hint] : [];
    });
  }

  /** Forgets what is over. */
  prune(): void {
    const now = this.#now();
    for (const [task, until] of this.#elsewhere) if (until <= now) this.#elsewhere.delete(task);
    for (const [task, { at }] of this.#unsent) if (at + KEPT <= now) this.#unsent.delete(task);
  }

  #isWatchedElsewhere(task: TaskId): boolean {
    return (this.#elsewhere.get(task) ?? 0) > this.#now();
  }
}
