import type { TaskId } from "../../protocol/ids.ts";
import type { RunnerRecord } from "../record/runner-record.ts";

/** A task that was running when its process died. */
export interface CrashedTask {
  readonly id: TaskId;
  /** The epoch of the lease that this node has claimed. */
  readonly epoch: number;
  readonly runner: RunnerRecord;
  /** The node that died. `undefined` for all tasks of a single-process store, which clears nodes when it is opened. */
  readonly node: string | undefined;
  /** The task committed something new since its last start. */
  readonly progressed: boolean;
}

/** A crashed task in its group. */
export interface GroupMember {
  readonly id: TaskId;
  readonly epoch: number;
  /** No other task was running on the node that died. */
  readonly wasOnly: boolean;
  /** Crashes in a row without a new commit in between, including this crash. */
  readonly idleCrashes: number;
}

/** Tasks that are started together, after the groups before were started and survived. */
export type Group = readonly GroupMember[];

/**
 * Divides crashed tasks into the groups in which they are started again. A suspect is a task with at least two crashes in a row without a new
 * commit. Without suspects, all tasks form one group. Otherwise the order is: the suspects of the group that was started last, as two halves
 * (one of them contains the task that crashes the process, so each crash halves the group); the suspects of earlier groups; all other tasks.
 */
export function planGroups(crashed: readonly CrashedTask[]): readonly Group[] {
  const memberOf = (task: CrashedTask): GroupMember => ({
    id: task.id,
    epoch: task.epoch,
    // Other nodes may have claimed further tasks of a named node.
    wasOnly: task.node === undefined && crashed.length === 1,
    idleCrashes: idleCrashesOf(task),
  });
  const others = crashed.filter((task) => !isSuspect(task)).map(memberOf);
  const suspectsByGroup = new Map<number, GroupMember[]>();
  for (const task of crashed.filter(isSuspect)) {
    const groupNumber = task.runner.round ?? 0;
    const group = suspectsByGroup.get(groupNumber) ?? [];
    group.push(memberOf(task));
    suspectsByGroup.set(groupNumber, group);
  }
  const [latest = [], ...earlier] = [...suspectsByGroup].sort(([a], [b]) => b - a).map(([, group]) => group);
  const half = Math.ceil(latest.length / 2);
  return [latest.slice(0, half), latest.slice(half), ...earlier, others].filter((group) => group.length > 0);
}

function isSuspect(task: CrashedTask): boolean {
  return idleCrashesOf(task) >= 2;
}

function idleCrashesOf({ runner, progressed }: CrashedTask): number {
  return progressed ? 0 : (runner.idleCrashes ?? 0) + 1;
}
