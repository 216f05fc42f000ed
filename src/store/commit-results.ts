import { type CommitKey, type Outcome, StoreError } from "./contract.ts";

/** Writers that are remembered. More exist only if many nodes have come and gone in one process. */
const MAX_WRITERS = 64;

/**
 * The outcomes of the last commit of each writer, for stores whose commits can be repeated only by the process that made them: see the `key` of
 * `Store.commit`.
 */
export class CommitResults {
  readonly #last = new Map<string, { readonly n: number; readonly outcomes: readonly Outcome[] }>();

  /** The outcomes of the commit with this key, if it was applied. Throws `lost` if the writer has made a later commit. */
  find({ writer, n }: CommitKey): readonly Outcome[] | undefined {
    const last = this.#last.get(writer);
    if (last === undefined || n > last.n) return undefined;
    if (n === last.n) return last.outcomes;
    throw new StoreError("lost", `Commit ${n} of ${writer} arrived after commit ${last.n}; nothing of it was applied.`);
  }

  /** The commit with this key was applied. */
  add({ writer, n }: CommitKey, outcomes: readonly Outcome[]): void {
    // The writers that commit stay at the end; the first one has not committed for the longest time.
    this.#last.delete(writer);
    this.#last.set(writer, { n, outcomes });
    if (this.#last.size <= MAX_WRITERS) return;
    const [oldest] = this.#last.keys();
    if (oldest !== undefined) this.#last.delete(oldest);
  }
}
