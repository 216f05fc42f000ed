import type { TaskId } from "../../protocol/ids.ts";
import type { RunnerRecord } from "../record/runner-record.ts";

/** A task that was at work when its process died. */
export interface CrashedTask {
  readonly id: TaskId;
  /** The id of its agent. */
  readonly agent: string;
  readonly runner: RunnerRecord;
  /** The node that died. A store with one owner forgets it when it is opened again: then all of its tasks have none. */
  readonly node: string | undefined;
  /** Something new was committed since its last start. */
  readonly progressed: boolean;
}

/** A crashed task in its group. */
export interface GroupMember {
  readonly id: TaskId;
  readonly agent: string;
  /** No other task was at work on the node that died. */
  readonly wasOnly: boolean;
  /** Crashes in a row, this one included, with nothing new committed in between. */
  readonly idleCrashes: number;
}

/** Tasks that are started together, once every group before has been started and has survived. */
export type Group = readonly GroupMember[];

/**
 * Divides crashed tasks into groups. Without suspects there is one group. A suspect is a task that has crashed twice in a row with nothing new
 * committed: the suspects that were started last are divided into halves and come first, then those of earlier groups, and then all others.
 */
export function planGroups(crashed: readonly CrashedTask[]): readonly Group[] {
  const perNode = new Map<string | undefined, number>();
  for (const { node } of crashed) perNode.set(node, (perNode.get(node) ?? 0) + 1);
  const memberOf = (task: CrashedTask): GroupMember => ({
    id: task.id,
    agent: task.agent,
    wasOnly: perNode.get(task.node) === 1,
    idleCrashes: idleCrashesOf(task),
  });
  const others = crashed.filter((task) => !isSuspect(task)).map(memberOf);
  const rounds = new Map<number, GroupMember[]>();
  for (const task of crashed.filter(isSuspect)) {
    const round = task.runner.round ?? 0;
    const group = rounds.get(round) ?? [];
    group.push(memberOf(task));
    rounds.set(round, group);
  }
  const [latest = [], ...earlier] = [...rounds].sort(([a], [b]) => b - a).map(([, group]) => group);
  const half = Math.ceil(latest.length / 2);
  return [latest.slice(0, half), latest.slice(half), ...earlier, others].filter((group) => group.length > 0);
}

function isSuspect(task: CrashedTask): boolean {
  return idleCrashesOf(task) >= 2;
}

function idleCrashesOf({ runner, progressed }: CrashedTask): number {
  return progressed ? 0 : (runner.idleCrashes ?? 0) + 1;
}
