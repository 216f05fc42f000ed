import { describe, expect, test } from "vitest";
import type { TaskContext } from "../../src/index.ts";
import { callRelationsOf } from "../../src/protocol/calls/call-tree.ts";
import { agent, textOfTask, World } from "./world.ts";

/** Calls an agent and returns its text, or the code of the error. */
const trying = (id: string) => async (task: TaskContext) => {
  try {
    return `${task.skillId ?? ""}(${(await task.call(id, task.text)).text})`;
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
};

describe("refused before anything is sent", () => {
  test("an agent that is already working further up", async () => {
    const runs: string[] = [];
    const counted = (id: string, next: string) =>
      agent(id, async (task) => {
        runs.push(id);
        return trying(next)(task);
      });
    await using world = new World([counted("a", "b"), counted("b", "c"), counted("c", "a")]);
    expect(textOfTask(await world.run("a", "go"))).toBe("((call-cycle))");
    expect(runs).toEqual(["a", "b", "c"]);
  });

  test("unless cycles are allowed; then the depth ends it", async () => {
    let runs = 0;
    const self = agent(
      "self",
      async (task) => {
        runs++;
        return trying("self")(task);
      },
      { calls: { cycles: true, depth: 3 } },
    );
    await using world = new World([self]);
    expect(textOfTask(await world.run("self", "go"))).toBe("(((call-depth)))");
    expect(runs).toBe(4);
  });

  test("too many calls at a time, in all, within a minute, and of different agents", async () => {
    const child = agent("child", async () => "ok");
    const others = ["x", "y", "z"].map((id) => agent(id, async () => "ok"));
    const codesOf = (calls: readonly PromiseLike<unknown>[]) =>
      Promise.allSettled(calls).then((all) =>
        all.map((one) => (one.status === "fulfilled" ? "ok" : (one.reason as { code: string }).code)),
      );
    const bomb = agent(
      "bomb",
      async (task) => JSON.stringify(await codesOf([1, 2, 3].map(() => task.call("child", "x")))),
      {
        calls: { fanOut: 2 },
      },
    );
    const many = agent(
      "many",
      async (task) =>
        JSON.stringify([...(await codesOf([task.call("child", "x")])), ...(await codesOf([task.call("child", "x")]))]),
      {
        calls: { perTask: 1 },
      },
    );
    const often = agent(
      "often",
      async (task) => JSON.stringify(await codesOf([1, 2, 3].map(() => task.call("child", "x")))),
      {
        calls: { perMinute: 2 },
      },
    );
    const wide = agent(
      "wide",
      async (task) => JSON.stringify(await codesOf(["x", "y", "z", "x"].map((id) => task.call(id, "x")))),
      {
        calls: { agents: 2 },
      },
    );
    await using world = new World([bomb, many, often, wide, child, ...others]);
    expect(textOfTask(await world.run("bomb", "go"))).toBe('["ok","ok","call-fan-out"]');
    expect(textOfTask(await world.run("many", "go"))).toBe('["ok","call-limit"]');
    expect(textOfTask(await world.run("often", "go"))).toBe('["ok","ok","call-rate"]');
    expect(textOfTask(await world.run("wide", "go"))).toBe('["ok","ok","call-agents","ok"]');
  });

  test("an agent that failed five times in a row, for a while", async () => {
    let runs = 0;
    const broken = agent("broken", async () => {
      runs++;
      throw new Error("no");
    });
    const caller = agent("caller", async (task) => trying("broken")(task));
    await using world = new World([caller, broken]);
    const codes: string[] = [];
    for (let index = 0; index < 6; index++) codes.push(textOfTask(await world.run("caller", "go")));
    expect(codes).toEqual([...Array(5).fill("call-failed"), "call-cool-down"]);
    expect(runs).toBe(5);
  });
});

describe("a budget", () => {
  test("stops a greedy tree; the root shows exactly what it has used", async () => {
    let used = 0;
    const spending = async (task: TaskContext, children: readonly string[]) => {
      // A leaf would go on for ever.
      for (let turn = 0; turn < (children.length === 0 ? 1000 : 1); turn++) {
        used += 150;
        await task.usage({ inputTokens: 100, outputTokens: 50, model: "mock" });
      }
      const results = await Promise.allSettled(children.map((id) => task.call(id, "x")));
      const failed = results.find((result) => result.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      return "done";
    };
    const leaf = agent("leaf", (task) => spending(task, []));
    const middle = agent("middle", (task) => spending(task, ["leaf", "leaf", "leaf"]));
    const root = agent("root", (task) => spending(task, ["middle", "middle", "middle"]), {
      calls: { budget: { tokens: 1000 } },
    });
    await using world = new World([root, middle, leaf]);
    const task = await world.run("root", "go");
    expect(task.status.state).toBe("failed");
    const usage = callRelationsOf(task.metadata)?.usage;
    expect((usage?.["inputTokens"] ?? 0) + (usage?.["outputTokens"] ?? 0)).toBe(used);
    expect(used).toBeGreaterThan(1000);
    // Every task that was at work when the budget ended may have gone beyond it once: 13 tasks at most.
    expect(used).toBeLessThanOrEqual(1000 + 13 * 150);
    expect(task.metadata?.["usage"]).toEqual({
      inputTokens: 100,
      outputTokens: 50,
      models: { mock: { inputTokens: 100, outputTokens: 50 } },
    });
  });

  test("cannot be ignored by the agent's code", async () => {
    const greedy = agent(
      "greedy",
      async (task) => {
        for (let index = 0; index < 5; index++) await task.usage({ totalTokens: 400 }).catch(() => undefined);
        return "all fine";
      },
      { calls: { budget: { tokens: 1000 } } },
    );
    await using world = new World([greedy]);
    const task = await world.run("greedy", "go");
    expect(task.status.state).toBe("failed");
    expect(textOfTask(task)).toContain("budget");
    expect(task.metadata?.["usage"]).toEqual({ totalTokens: 1200 });
  });
});
