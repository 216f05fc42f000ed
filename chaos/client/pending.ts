import type { Write } from "../journal.ts";

/** The pending waits of a client process, reported when it must exit. */
export class Pending {
  readonly #journal: Write;
  readonly #waiting = new Set<{ readonly task: string; readonly what: string }>();
  #isOver = false;

  constructor(journal: Write) {
    this.#journal = journal;
  }

  /** Runs the work and never rejects: a failure is written to the journal. */
  async track(task: string, what: string, work: () => Promise<void>): Promise<void> {
    const entry = { task, what };
    this.#waiting.add(entry);
    try {
      await work();
    } catch (error) {
      if (!this.#isOver) this.#journal({ kind: "failed", task, what: `${what}: ${describe(error)}` });
    } finally {
      this.#waiting.delete(entry);
    }
  }

  /** Writes all pending waits to the journal. */
  giveUp(): void {
    this.#isOver = true;
    for (const { task, what } of this.#waiting) this.#journal({ kind: "waiting", task, what });
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error ? ` (${String(error.code)})` : "";
  return `${error.name}${code}: ${error.message}`;
}
