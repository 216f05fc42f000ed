import { useEffect, useState } from "preact/hooks";
import type { TaskRow } from "../data/operator-types.ts";

export interface StableRows {
  /** `undefined`: not read yet. */
  readonly rows: readonly TaskRow[] | undefined;
  /** How many tasks are new since the rows were ordered. */
  readonly fresh: number;
  /** Orders the rows again, with the new ones. */
  readonly showNew: () => void;
}

/** Rows that change in place but do not move while one reads them. */
export function useStableRows(key: string, tasks: readonly TaskRow[] | undefined): StableRows {
  const [shown, setShown] = useState<{ readonly key: string; readonly rows: readonly TaskRow[] }>();
  useEffect(() => {
    if (tasks === undefined) return;
    setShown((before) => {
      if (before?.key !== key || before.rows.length === 0) return { key, rows: tasks };
      const latest = new Map(tasks.map((task) => [task.key, task]));
      return { key, rows: before.rows.map((row) => latest.get(row.key) ?? row) };
    });
  }, [key, tasks]);
  if (tasks === undefined || shown === undefined || shown.key !== key)
    return { rows: tasks, fresh: 0, showNew: () => {} };
  const known = new Set(shown.rows.map((row) => row.key));
  const fresh = tasks.filter((task) => !known.has(task.key)).length;
  return { rows: shown.rows, fresh, showNew: () => setShown({ key, rows: tasks }) };
}
