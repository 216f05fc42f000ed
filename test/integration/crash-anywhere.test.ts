import { afterEach, describe, expect, test } from "vitest";
import type { TaskId } from "../../src/protocol/ids.ts";
import type { Task } from "../../src/protocol/task.ts";
import type { Store } from "../../src/store/contract.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";
import {
  type EngineHarness,
  type HarnessOptions,
  openHarness,
  scripted,
  turns,
} from "../../src/testing/engine-harness.ts";

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

describe("a crash at any commit of a task with many events", () => {
  const journey = scripted(async (task) => {
    await task.status("begin");
    await task.step("one", async () => {
      await task.artifact("a").write("step one");
      return 1;
    });
    await task.artifact("a").write("after one");
    const name = await task.ask("Name?");
    await task.artifact("b").write(`for ${name}`);
    await task.status("half way");
    await task.step("two", async () => {
      await task.status("in step two");
      await task.artifact("b").write("step two");
      return 2;
    });
    const again = await task.ask("Name?");
    await task.artifact("a").write(`and ${again}`);
    return "end";
  });

  interface Fault {
    readonly at: number;
    readonly how: "not applied" | "applied, unanswered" | "answered";
  }

  /** Runs the task with a crash at one commit; replies like a caller that sees only acknowledged events. */
  async function travel(
    fault: Fault | undefined,
  ): Promise<{ readonly story: string[]; readonly task: Task; readonly commits: number; readonly seen: number[] }> {
    let commits = 0;
    let struck = false;
    const openStore: NonNullable<HarnessOptions["openStore"]> = (setup) => {
      const inner = createMemoryStore(setup);
      const commit: Store["commit"] = async (operations) => {
        commits += 1;
        if (commits !== fault?.at) return inner.commit(operations);
        struck = true;
        if (fault.how === "not applied") return new Promise(() => {});
        const outcomes = await inner.commit(operations);
        return fault.how === "answered" ? outcomes : new Promise(() => {});
      };
      return new Proxy(inner, {
        get(target, key) {
          if (key === "commit") return commit;
          const value: unknown = Reflect.get(target, key);
          return typeof value === "function" ? value.bind(target) : value;
        },
      });
    };
    harness = await openHarness({ agents: journey, openStore });
    const seen: number[] = [];
    let id: TaskId | undefined;
    let following: Promise<void> | undefined;
    let answering = false;
    const names = ["Ada", "Bob"];
    const follow = async (taskId: TaskId): Promise<void> => {
      const subscription = await harness.subscribe(taskId, { after: seen.length });
      for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next()) {
        for (const { seq } of batch.entries) seen.push(seq);
      }
    };
    for (let tries = 0; tries < 500; tries += 1) {
      await turns(1);
      if (struck) {
        struck = false;
        answering = false;
        following = undefined;
        harness = await harness.crash();
      }
      if (id === undefined) {
        id = (await harness.begin("go")).taskId;
        continue;
      }
      const stored = await harness.find(id);
      if (stored === undefined) {
        // The task was never acknowledged: the caller sends again.
        if (following === undefined && tries % 20 === 19) id = undefined;
        continue;
      }
      following ??= follow(id);
      if (stored.status.state === "completed") break;
      if (stored.status.state !== "input-required" || answering || (await harness.shared.inbox(id)).length > 0)
        continue;
      answering = true;
      const count = (stored.history ?? []).filter(({ role }) => role === "user").length;
      void harness.start({ taskId: id, parts: [{ text: names[count - 1] ?? "" }] }).then(async () => {
        await turns(5);
        answering = false;
      });
    }
    if (id === undefined) throw new Error("No task was created.");
    await following;
    const task = await harness.get(id);
    return { story: (await harness.story(id)).map((line) => line.replace(/!$/, "")), task, commits, seen };
  }

  test("leads to the same result, and a reader that resumes receives every event once", async () => {
    const undisturbed = await travel(undefined);
    expect(undisturbed.task.status.state).toBe("completed");
    expect(undisturbed.story.length).toBeGreaterThan(14);
    await harness[Symbol.asyncDispose]();
    for (let at = 1; at <= undisturbed.commits; at += 1) {
      for (const how of ["not applied", "applied, unanswered", "answered"] as const) {
        const { story, task, seen } = await travel({ at, how });
        const where = `commit ${at} of ${undisturbed.commits}, ${how}`;
        expect(story, where).toEqual(undisturbed.story);
        expect(task.artifacts, where).toEqual(undisturbed.task.artifacts);
        expect(
          task.history?.map(({ parts }) => parts),
          where,
        ).toEqual(undisturbed.task.history?.map(({ parts }) => parts));
        expect(seen, where).toEqual(story.map((_, index) => index + 1));
        if (at < undisturbed.commits || how !== "answered") await harness[Symbol.asyncDispose]();
      }
    }
  });
});
