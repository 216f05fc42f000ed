/** The rows of the hot log by task, as far as the writer thread has reported them. */
export class HotIndex {
  readonly #tasks = new Map<string, { rows: number[]; last: number }>();
  /** The newest known row. The file may have newer rows: a reader must query them. */
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

  /** Removes the rows of a task up to this one: they left the hot log. */
  drop(task: string, through: number): void {
    const known = this.#tasks.get(task);
    if (known === undefined) return;
    known.rows = known.rows.filter((row) => row > through);
    if (known.rows.length === 0) this.#tasks.delete(task);
  }

  /** In ascending order. */
  rowsOf(task: string): readonly number[] {
    return this.#tasks.get(task)?.rows ?? [];
  }

  /** The last seq of these rows; 0: none. */
  lastOf(task: string): number {
    return this.#tasks.get(task)?.last ?? 0;
  }
}
