import { TASK_STATES, type TaskState } from "../protocol/state.ts";

/** Figures of a store for operators. They may be up to 5 seconds old. */
export interface StoreStatistics {
  /** The number of tasks in each state. */
  readonly tasks: Readonly<Record<TaskState, number>>;
  /** Tasks that have not ended, and that no node holds or needs to run: they wait for a message or a time. */
  readonly parked: number;
  /** The nodes that hold leases or have renewed theirs, in any order. */
  readonly nodes: readonly NodeStatistics[];
  /** Bytes on disk. Absent: the store is not on a disk, or cannot tell. */
  readonly bytes?: number;
}

export interface NodeStatistics {
  readonly id: string;
  /** When its lease ends, in milliseconds since 1970 of the store's clock. Absent: it has not renewed it. */
  readonly leaseUntil?: number;
  /** The tasks whose lease it holds. */
  readonly tasks: number;
}

/** No tasks in any state. */
export function noTasks(): Record<TaskState, number> {
  // Safe cast: every state is listed.
  return Object.fromEntries(TASK_STATES.map((state) => [state, 0])) as Record<TaskState, number>;
}

/** Joins the tasks that nodes hold with the leases of nodes. */
export function nodeStatistics(
  held: ReadonlyMap<string, number>,
  leases: ReadonlyMap<string, number>,
): readonly NodeStatistics[] {
  const ids = new Set([...leases.keys(), ...held.keys()]);
  return Array.from(ids, (id) => {
    const leaseUntil = leases.get(id);
    return { id, ...(leaseUntil !== undefined && { leaseUntil }), tasks: held.get(id) ?? 0 };
  });
}
