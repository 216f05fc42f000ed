import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TaskId } from "../protocol/ids.ts";
import type { Part } from "../protocol/part.ts";
import type { Task } from "../protocol/task.ts";
import { openHarness, scripted } from "../testing/engine-harness.ts";
import type { TaskContext } from "./agent/agent.ts";

/** One operation of an author on the artifact `a`, inside a step or not. */
interface Doing {
  readonly kind: "write" | "replace";
  readonly text: string;
  readonly inStep: boolean;
}

const written = (text: string): Doing => ({ kind: "write", text, inStep: false });
const replaced = (text: string): Doing => ({ kind: "replace", text, inStep: false });

async function perform(task: TaskContext, doings: readonly Doing[]): Promise<void> {
  for (const [index, { kind, text, inStep }] of doings.entries()) {
    const work = (): Promise<void> => task.artifact("a")[kind](text);
    await (inStep ? task.step(`s${index}`, work) : work());
  }
}

/** Every attempt except the last crashes after its writes are committed. Returns the artifact and the story. */
async function play(
  attempts: readonly (readonly Doing[])[],
): Promise<{ readonly text: string | undefined; readonly story: readonly string[] }> {
  let stuck = 0;
  const author = scripted(async (task) => {
    await perform(task, attempts[task.attempt - 1] ?? []);
    if (task.attempt === attempts.length) return;
    await task.flush();
    stuck = task.attempt;
    await new Promise<never>(() => {});
  });
  let harness = await openHarness({ agents: author });
  const { taskId } = await harness.start("go");
  for (let attempt = 1; attempt < attempts.length; attempt++) {
    await harness.until(() => stuck === attempt, `attempt ${attempt}`);
    harness = await harness.crash();
  }
  await harness.untilState(taskId, "completed");
  const text = textOf(await harness.get(taskId));
  const story = await harness.story(taskId);
  await harness[Symbol.asyncDispose]();
  return { text, story };
}

function textOf(task: Task): string | undefined {
  return task.artifacts?.[0]?.parts.map(({ text }) => text).join("");
}

function meaning(doings: readonly Doing[]): string {
  return doings.reduce((text, doing) => (doing.kind === "write" ? text + doing.text : doing.text), "");
}

describe("an artifact that is replaced", () => {
  test("contains the replacement and later writes", async () => {
    const { text, story } = await play([[written("1"), written("2"), replaced("3"), written("4")]]);
    expect(text).toBe("34");
    expect(story).toEqual(["working", "a=1", "a+=2", "a=3", "a+=4!", "completed"]);
  });

  test("may be replaced before its first write", async () => {
    const doings = [replaced("1"), written("2")];
    const { text, story } = await play([doings, doings]);
    expect(text).toBe("12");
    expect(story).toEqual(["working", "a=1", "a+=2", "a+=!", "completed"]);
  });

  test("is not replaced again after a crash", async () => {
    const doings = [written("1"), replaced("2"), written("3"), replaced("4"), written("5")];
    const { story } = await play([doings.slice(0, 4), doings]);
    expect(story).toEqual(["working", "a=1", "a=2", "a+=3", "a=4", "a+=5!", "completed"]);
  });

  test("is what the last attempt wrote, if that attempt wrote something else", async () => {
    const { text } = await play([[written("1"), replaced("2")], [written("1")]]);
    expect(text).toBe("1");
  });

  test("keeps the content of earlier turns if only a crashed attempt replaced it", async () => {
    let stuck = false;
    const author = scripted(async (task) => {
      if (task.text === "first") {
        await task.artifact("a").write("old ");
        await harness.start(more(task));
        return;
      }
      await task.artifact("a")[task.attempt === 1 ? "replace" : "write"]("new");
      if (task.attempt > 1) return;
      await task.flush();
      stuck = true;
      await new Promise<never>(() => {});
    });
    let harness = await openHarness({ agents: author });
    const { taskId } = await harness.start("first");
    await harness.until(() => stuck);
    expect(textOf(await harness.get(taskId))).toBe("new");
    harness = await harness.crash();
    await harness.untilState(taskId, "completed");
    expect(textOf(await harness.get(taskId))).toBe("old new");
    await harness[Symbol.asyncDispose]();
  });
});

function more(task: TaskContext): { readonly taskId: TaskId; readonly parts: readonly Part[] } {
  // Safe cast: the id of the task.
  return { taskId: task.id as TaskId, parts: [{ text: "more" }] };
}

const doing = (inStep: fc.Arbitrary<boolean>): fc.Arbitrary<Doing> =>
  fc.record({ kind: fc.constantFrom("write", "replace"), text: fc.constantFrom("x", "y", "z"), inStep });

test("a run that crashes any number of times ends with the same artifact as without crashes", async () => {
  const program = fc.array(doing(fc.boolean()), { minLength: 1, maxLength: 6 });
  const deaths = fc.array(fc.nat({ max: 6 }), { maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(program, deaths, async (doings, ends) => {
      const { text } = await play([...ends.map((end) => doings.slice(0, end)), doings]);
      expect(text).toBe(meaning(doings));
    }),
    { numRuns: 60 },
  );
});

test("content of attempts that wrote something else is removed", async () => {
  const program = fc.array(doing(fc.constant(false)), { maxLength: 5 });
  await fc.assert(
    fc.asyncProperty(fc.array(program, { minLength: 2, maxLength: 3 }), async (attempts) => {
      const { text } = await play(attempts);
      expect(text ?? "").toBe(meaning(attempts.at(-1) ?? []));
    }),
    { numRuns: 60 },
  );
});
