/** Which rows of the hot log belong to which task, as far as this thread was told. */
export class HotIndex {
  readonly #tasks = new Map<string, { rows: number[]; last: number }>();
  /** The newest row known. Newer ones may be in the file already; whoever reads must look for them there. */
  newest = 0;

  add(task: string, row: number, last: number): void {
    this.newest = Math.max(this.newest, row);
    const known = this.#tasks.get(task);
    if (known === undefined) this.#tasks.set(task, { rows: [row], last });
    else {
      known.rows.push(row);
      known.last = last;
    }
  }

  /** The rows of a task up to this one are no longer in the hot log. */
  drop(task: string, through: number): void {
    const known = this.#tasks.get(task);
    if (known === undefined) return;
    known.rows = known.rows.filter((row) => row > through);
    if (known.rows.length === 0) this.#tasks.delete(task);
  }

  /** In order. */
  rowsOf(task: string): readonly number[] {
    return this.#tasks.get(task)?.rows ?? [];
  }

  /** The last seq these rows hold; 0 if there are none. */
  lastOf(task: string): number {
    return this.#tasks.get(task)?.last ?? 0;
  }
}
