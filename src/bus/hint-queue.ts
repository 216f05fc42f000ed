import type { Hint } from "./contract.ts";

/** Hints that wait to be sent. Of several hints about the log of one task, only the last one is kept. */
export class HintQueue {
  readonly #hints = new Map<string, Hint>();

  get isEmpty(): boolean {
    return this.#hints.size === 0;
  }

  add(hints: readonly Hint[]): void {
    for (const hint of hints) {
      const key = keyOf(hint);
      const waiting = this.#hints.get(key);
      if (waiting?.kind === "log" && hint.kind === "log" && waiting.seq >= hint.seq) continue;
      this.#hints.set(key, hint);
    }
  }

  /** Returns all hints and forgets them. */
  takeAll(): readonly Hint[] {
    const hints = [...this.#hints.values()];
    this.#hints.clear();
    return hints;
  }
}

function keyOf(hint: Hint): string {
  switch (hint.kind) {
    case "log":
      return `log ${hint.task}`;
    case "inbox":
      return `inbox ${hint.task} ${hint.node}`;
    case "due":
      return "due";
  }
}
