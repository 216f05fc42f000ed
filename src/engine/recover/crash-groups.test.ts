import { describe, expect, test } from "vitest";
import type { TaskId } from "../../protocol/ids.ts";
import type { RunnerRecord } from "../record/runner-record.ts";
import { type CrashedTask, planGroups } from "./crash-groups.ts";

function crashed(id: string, runner: Partial<RunnerRecord> = {}, rest: Partial<CrashedTask> = {}): CrashedTask {
  const record: RunnerRecord = { attempt: 1, tries: 1, turnAfter: 0, interruptedAt: 0, bytes: 0, ...runner };
  // Safe cast: a name instead of an id.
  return { id: id as TaskId, epoch: 2, runner: record, node: "dead", progressed: false, ...rest };
}

const idsOf = (tasks: readonly CrashedTask[]): string[][] =>
  planGroups(tasks).map((group) => group.map(({ id }) => String(id)));

describe("the groups of crashed tasks", () => {
  test("are a single group after the first crash", () => {
    expect(idsOf(["a", "b", "c"].map((id) => crashed(id)))).toEqual([["a", "b", "c"]]);
    expect(idsOf([])).toEqual([]);
  });

  test("are halves of the tasks that were started last, then earlier groups, then the tasks that made progress", () => {
    const tasks = [
      crashed("early", { idleCrashes: 1, round: 1 }),
      crashed("waiting", { idleCrashes: 2, round: 2 }),
      crashed("a", { idleCrashes: 2, round: 3 }),
      crashed("b", { idleCrashes: 2, round: 3 }),
      crashed("c", { idleCrashes: 2, round: 3 }),
      crashed("healthy", { idleCrashes: 3, round: 3 }, { progressed: true }),
      crashed("new"),
    ];
    expect(idsOf(tasks)).toEqual([["a", "b"], ["c"], ["waiting"], ["early"], ["healthy", "new"]]);
  });

  test("shrink to one task with each crash", () => {
    expect(idsOf([crashed("a", { idleCrashes: 4, round: 5 }), crashed("b", { idleCrashes: 4, round: 4 })])).toEqual([
      ["a"],
      ["b"],
    ]);
  });

  test("mark a task that was the only one of its process, but not if other nodes may have claimed tasks of the same one", () => {
    const wasOnly = (tasks: readonly CrashedTask[]): boolean[] =>
      planGroups(tasks).flatMap((group) => group.map((member) => member.wasOnly));
    const none = { node: undefined };
    expect(wasOnly([crashed("a", {}, none)])).toEqual([true]);
    expect(wasOnly([crashed("a", {}, none), crashed("b", {}, none)])).toEqual([false, false]);
    expect(wasOnly([crashed("a")])).toEqual([false]);
  });
});
