import { describe, expect, it } from "vitest";
import { z } from "zod";
import { agent } from "../../engine/agent/agent.ts";
import { testAgent } from "./test-agent.ts";
import { testCrashes } from "./test-crashes.ts";

const declared = { name: "A", description: "d", version: "1" };
const DAY = 24 * 3_600_000;

const countdown = agent({
  ...declared,
  async *run(task) {
    for (let count = Number(task.text); count > 0; count--) {
      yield `${count} `;
      await task.sleep(1000);
    }
    yield "Lift-off!";
  },
});

const planner = agent({
  ...declared,
  async *run(task) {
    const { city } = await task.ask("Where to?", { schema: z.object({ city: z.string() }) });
    yield `To ${city}. `;
    yield (await task.ask("Book?")) === "yes" ? "Booked." : "Not booked.";
  },
});

const greeter = agent({
  ...declared,
  id: "greeter",
  async run(task) {
    const name = await task.ask("Your name?");
    await task.sleep(60_000);
    return `Hello ${name}.`;
  },
});

const office = agent({
  ...declared,
  id: "office",
  async run(task) {
    const { text } = await task.call("greeter", task.text);
    return `${text} Welcome.`;
  },
});

describe("testAgent", () => {
  it("sends a message and skips the agent's sleeps", async () => {
    await using test = await testAgent(countdown);
    const before = test.now();
    const task = await test.send("3");
    expect(task).toMatchObject({ state: "completed", text: "3 2 1 Lift-off!" });
    expect(test.now() - before).toBe(3000);
  });

  it("answers questions by their schema", async () => {
    await using test = await testAgent(planner);
    const asked = await test.send("plan");
    expect(asked).toMatchObject({ state: "input-required", statusText: "Where to?" });
    expect(asked.question).toMatchObject({ text: "Where to?", sensitive: false, schema: { type: "object" } });
    const next = await test.answer(asked, { data: { city: "Rome" } });
    expect(next.question?.text).toBe("Book?");
    expect(await test.answer(next, "yes")).toMatchObject({ state: "completed", text: "To Rome. Booked." });
    await expect(test.answer(next, "yes")).rejects.toThrow("The task is completed: it takes no answer.");
  });

  it("lets its agents call each other: questions come to the caller, and sleeps of called tasks are skipped", async () => {
    await using test = await testAgent([office, greeter]);
    const before = test.now();
    const asked = await test.send("hi");
    expect(asked.question?.text).toBe("Your name?");
    expect(await test.answer(asked, "Ada")).toMatchObject({ state: "completed", text: "Hello Ada. Welcome." });
    expect(test.now() - before).toBe(60_000);
  });

  it("moves the clock of called tasks", async () => {
    await using test = await testAgent([office, greeter], { skipSleeps: false });
    const asked = await test.send("hi");
    await Promise.all([test.answer(asked, "Ada"), test.advance(59_999).then(() => test.advance(1))]);
    expect(await test.get(asked)).toMatchObject({ state: "completed" });
  });

  it("cancels called tasks with the calling one", async () => {
    await using test = await testAgent([office, greeter]);
    const asked = await test.send("hi");
    expect(await test.cancel(asked)).toMatchObject({ state: "canceled" });
  });

  it("calls no agent elsewhere, and says what to do", async () => {
    const caller = agent({ ...declared, run: async (task) => (await task.call("https://a.example", "x")).text });
    await using test = await testAgent(caller);
    const { state, statusText } = await test.send("x");
    expect(state).toBe("failed");
    expect(statusText).toContain("A test calls only its own agents, not https://a.example");
  });

  it("streams each event once, also over a crash at any of them", async () => {
    const lengths = new Set<number>();
    for (let at = 0; at < 6; at++) {
      await using test = await testAgent(countdown);
      const seqs: number[] = [];
      let text = "";
      for await (const event of test.stream("2")) {
        seqs.push(event.seq);
        if (event.kind === "artifact") text += event.artifact.parts.map((part) => part.text).join("");
        if (event.seq === at) await test.crash();
      }
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
      expect(text).toBe("2 1 Lift-off!");
      lengths.add(seqs.length);
    }
    expect(lengths.size).toBe(1);
  });

  it("runs finished steps once, and goes on with new code after a crash", async () => {
    let steps = 0;
    const version = (word: string) =>
      agent({
        ...declared,
        id: "a",
        async *run(task) {
          yield `${await task.step("pay", () => ++steps)} `;
          await task.ask("Go on?");
          yield word;
        },
      });
    await using test = await testAgent(version("old"));
    const asked = await test.send("x");
    await test.crash({ agents: version("new") });
    expect(await test.answer(asked, "yes")).toMatchObject({ text: "1 new" });
    expect(steps).toBe(1);
  });

  it("moves the clock by hand: sleeps, time-outs of questions and deadlines", async () => {
    const patient = agent({
      ...declared,
      async run(task) {
        if (task.text === "deadline") return new Promise<string>(() => {});
        await task.sleep(7 * DAY);
        return task.ask("Still there?", { timeout: DAY, onTimeout: "fail" });
      },
      timeout: 60_000,
    });
    await using test = await testAgent(patient, { skipSleeps: false });
    const task = await test.start("x");
    await test.advance(7 * DAY - 1);
    expect((await test.get(task)).state).toBe("working");
    await test.advance(1);
    expect((await test.get(task)).state).toBe("input-required");
    await test.advance(DAY);
    expect((await test.get(task)).state).toBe("failed");
    const stuck = await test.start("deadline");
    await test.advance(70_000);
    expect(await test.get(stuck)).toMatchObject({ state: "failed" });
  });

  it("shows all counts of a long span, each at its time", async () => {
    await using test = await testAgent(countdown, { skipSleeps: false });
    const task = await test.start("100");
    await test.advance(50_500);
    expect((await test.get(task)).text.trim().split(" ")).toHaveLength(51);
    await test.advance(49_500);
    expect((await test.get(task)).state).toBe("completed");
  });

  it("cancels, and keeps contexts and callers apart", async () => {
    const counter = agent({
      ...declared,
      async run(task) {
        if (task.text === "wait") await task.ask("?");
        const count = Number((await task.context.get("count")) ?? 0) + 1;
        await task.context.set("count", count);
        return String(count);
      },
    });
    await using test = await testAgent(counter);
    const first = await test.send("x");
    expect((await test.send("x", { contextId: first.contextId })).text).toBe("2");
    expect((await test.send("x", { contextId: first.contextId, caller: "ada" })).text).toBe("1");
    expect((await test.cancel(await test.send("wait"))).state).toBe("canceled");
  });

  it("shows failures, rejections and direct replies as tasks", async () => {
    const moody = agent({
      ...declared,
      reply: ({ parts }) => (parts[0]?.text === "hi" ? "Hello at once." : undefined),
      async run(task) {
        if (task.text === "no") return task.reject("Not today.");
        throw new Error("secret details");
      },
    });
    await using test = await testAgent(moody);
    expect(await test.send("no")).toMatchObject({ state: "rejected", statusText: "Not today." });
    expect((await test.send("x")).state).toBe("failed");
    expect(test.logs).toContainEqual(
      expect.objectContaining({
        level: "error",
        details: expect.objectContaining({ error: new Error("secret details") }),
      }),
    );
    expect(await test.send("hi")).toMatchObject({ state: "completed", text: "", statusText: "Hello at once." });
  });

  it("refuses unknown tasks, agents and times", async () => {
    await using test = await testAgent(countdown);
    await expect(test.get("nope")).rejects.toThrow("The test has no task nope.");
    await expect(test.send("x", { agent: "b" })).rejects.toThrow("The test has no agent b.");
    await expect(test.advance(-1)).rejects.toThrow(TypeError);
    await expect(testAgent([countdown, countdown])).rejects.toThrow("Two agents have the id");
  });
});

describe("testCrashes", () => {
  it("crashes a conversation at every commit", async () => {
    const { crashes } = await testCrashes(planner, async (test) => {
      const asked = await test.send("plan");
      const next = await test.answer(asked, { data: { city: "Rome" } });
      expect((await test.answer(next, "yes")).text).toBe("To Rome. Booked.");
    });
    expect(crashes).toBeGreaterThan(4);
  });

  it("crashes agents that call each other at every commit", async () => {
    const { crashes } = await testCrashes([office, greeter], async (test) => {
      const asked = await test.send("hi");
      expect((await test.answer(asked, "Ada")).text).toBe("Hello Ada. Welcome.");
    });
    expect(crashes).toBeGreaterThan(8);
  });

  it("finds an agent that does not repeat itself", async () => {
    let runs = 0;
    const forgetful = agent({
      ...declared,
      async *run(task) {
        const run = ++runs;
        await task.ask("?");
        yield `run ${run}`;
      },
    });
    const scenario = testCrashes(
      () => {
        runs = 0;
        return forgetful;
      },
      async (test) => test.answer(await test.send("x"), "y"),
    );
    await expect(scenario).rejects.toThrow(
      /After a crash at commit \d of \d, task 1 differs\.[\s\S]*run 1[\s\S]*run 2/,
    );
  });
});
