import { afterEach, describe, expect, test } from "vitest";
import type { ArtifactEvent } from "../../protocol/event.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { textOf } from "../../protocol/part.ts";
import type { Task } from "../../protocol/task.ts";
import { type EngineHarness, type HarnessOptions, openHarness, scripted } from "../../testing/engine-harness.ts";
import type { TaskContext } from "../agent/agent.ts";
import type { EngineHooks } from "../api.ts";

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

/** Runs one function per attempt. After each but the last, the process crashes once the output is committed. */
async function play(
  attempts: readonly ((task: TaskContext) => Promise<unknown>)[],
  options: Partial<HarnessOptions> = {},
): Promise<{ readonly id: TaskId; readonly task: Task }> {
  let stuck = 0;
  const author = scripted(async (task) => {
    await attempts[task.attempt - 1]?.(task);
    if (task.attempt === attempts.length) return;
    await task.flush();
    stuck = task.attempt;
    await new Promise<never>(() => {});
  });
  harness = await openHarness({ agents: author, ...options });
  const { taskId: id } = await harness.start("go");
  for (let attempt = 1; attempt < attempts.length; attempt += 1) {
    await harness.until(() => stuck === attempt, `attempt ${attempt} to get stuck`);
    harness = await harness.crash();
  }
  await harness.until(async () => (await harness.get(id)).status.state === "completed", "the task to complete");
  return { id, task: await harness.get(id) };
}

function contents(task: Task): Record<string, string> {
  return Object.fromEntries((task.artifacts ?? []).map(({ artifactId, parts }) => [artifactId, textOf(parts)]));
}

async function artifactEvents(id: TaskId): Promise<ArtifactEvent[]> {
  return (await harness.log(id)).flatMap(({ event }) => (event.kind === "artifact" ? [event] : []));
}

const write =
  (...chunks: readonly (readonly [string, string])[]) =>
  async (task: TaskContext): Promise<void> => {
    for (const [name, text] of chunks) await task.artifact(name).write(text);
  };

describe("the output of an attempt after a crash", () => {
  test("is not written again if the log has it", async () => {
    const all = [
      ["a", "1"],
      ["b", "x"],
      ["a", "2"],
      ["b", "y"],
    ] as const;
    const { id } = await play([write(...all.slice(0, 3)), write(...all)]);
    expect(await harness.story(id)).toEqual(["working", "a=1", "b=x", "a+=2", "b+=y!", "a+=!", "completed"]);
  });

  test("is compared for each artifact, in whatever order they are written", async () => {
    const { id } = await play([
      write(["a", "1"], ["a", "2"], ["b", "x"]),
      write(["b", "x"], ["a", "1"], ["b", "y"], ["a", "2"]),
    ]);
    expect(await harness.story(id)).toEqual(["working", "a=1", "a+=2", "b=x", "b+=y!", "a+=!", "completed"]);
  });

  test("restarts only the artifact that differs, at the first difference", async () => {
    const { id, task } = await play([
      write(["a", "1"], ["b", "x"], ["a", "2"], ["a", "3"]),
      write(["a", "1"], ["b", "x"], ["a", "two"]),
    ]);
    expect(await harness.story(id)).toEqual([
      "working",
      "a=1",
      "b=x",
      "a+=2",
      "a+=3",
      "a=1",
      "a+=two!",
      "b+=!",
      "completed",
    ]);
    expect(contents(task)).toEqual({ a: "1two", b: "x" });
  });

  test("replaces the artifact if its first part differs", async () => {
    const { id } = await play([write(["a", "1"], ["a", "2"]), write(["a", "one"], ["a", "2"])]);
    expect(await harness.story(id)).toEqual(["working", "a=1", "a+=2", "a=one", "a+=2!", "completed"]);
  });

  test("restarts artifacts of which the log holds more than the run produced", async () => {
    const { id, task } = await play([
      write(["a", "1"], ["a", "2"], ["gone", "x"], ["b", "y"]),
      write(["a", "1"], ["b", "y"]),
    ]);
    expect((await harness.story(id)).slice(5)).toEqual(["a=1!", "gone=!", "b+=!", "completed"]);
    expect(contents(task)).toEqual({ a: "1", gone: "", b: "y" });
    expect(task.artifacts?.find(({ artifactId }) => artifactId === "gone")?.name).toBe("gone");
  });

  test("is compared part by part, however it is divided into chunks", async () => {
    const parts = [{ text: "1" }, { text: "2" }, { data: { n: 3 } }];
    const { id } = await play([
      (task) => task.artifact("a").write(parts),
      async (task) => {
        for (const part of parts) await task.artifact("a").write(part);
        await task.artifact("a").write("4");
      },
    ]);
    expect(await harness.story(id)).toEqual(["working", 'a=12{"n":3}', "a+=4!", "completed"]);
  });

  test("is written in several events of one commit if a restart is large", async () => {
    const chunks = Array.from({ length: 10 }, (_, n) => ["a", `${n}`.repeat(20_000)] as const);
    const { id, task } = await play([write(...chunks, ["a", "old"]), write(...chunks, ["a", "new"])]);
    const restarted = (await artifactEvents(id)).slice(11);
    expect(restarted.length).toBeGreaterThan(3);
    expect(restarted.map(({ append }) => append)).toEqual(restarted.map((_, index) => index > 0));
    for (const event of restarted) expect(JSON.stringify(event).length).toBeLessThan(70_000);
    expect(contents(task)).toEqual({ a: `${chunks.map(([, text]) => text).join("")}new` });
    const holding = harness.store.commits
      .flat()
      .filter((operation) => operation.kind === "write" && operation.entries.length > 0);
    expect(holding).toHaveLength(1);
  });

  test("keeps the order of calls that are not awaited while an artifact is restarted", async () => {
    const { id, task } = await play([
      write(["a", "1"], ["a", "2"]),
      async (task) => {
        const calls = [
          task.artifact("a").write("one"),
          task.status("said"),
          task.artifact("b").write("x"),
          task.artifact("a").write("two"),
        ];
        await Promise.all(calls);
      },
    ]);
    expect((await harness.story(id)).slice(3)).toEqual(["a=one", "working:said", "b=x!", "a+=two!", "completed"]);
    expect(contents(task)).toEqual({ a: "onetwo", b: "x" });
  });

  test("is written completely even if the code did not await it", async () => {
    const { task } = await play([
      write(["a", "1"], ["a", "2"]),
      async (task) => {
        void task.artifact("a").write("one");
        void task.artifact("a").write("two");
      },
    ]);
    expect(contents(task)).toEqual({ a: "onetwo" });
  });

  test("goes to the same artifact for the same name, whatever characters the name has", async () => {
    const name = 'a "quoted"\nname é\u2028';
    const { task } = await play([write([name, "1"], [name, "2"]), write([name, "1"], [name, "two"])]);
    expect(task.artifacts).toEqual([{ artifactId: name, name, parts: [{ text: "1two" }] }]);
  });

  test("keeps description, metadata and extensions of a restarted artifact", async () => {
    const options = { description: "d", metadata: { m: 1 }, extensions: ["urn:x"] };
    const { task } = await play([
      async (task) => {
        await task.artifact("a", options).write("1");
        await task.artifact("a", options).write("2");
      },
      (task) => task.artifact("a", options).write("1"),
    ]);
    expect(task.artifacts).toEqual([{ artifactId: "a", name: "a", ...options, parts: [{ text: "1" }] }]);
  });

  test("repeats no status before the first difference, and writes every status after it", async () => {
    const say =
      (...words: readonly string[]) =>
      async (task: TaskContext) => {
        for (const word of words) await task.status(word, { n: 1 });
      };
    const { id } = await play([say("one", "two", "three"), say("one", "zwei", "three", "four")]);
    expect(await harness.story(id)).toEqual([
      "working",
      "working:one",
      "working:two",
      "working:three",
      "working:zwei",
      "working:three",
      "working:four",
      "completed",
    ]);
  });

  test("matches the log after any number of crashes", async () => {
    const chunk = (n: number) => ["a", `${n}`] as const;
    const { id } = await play(
      [1, 2, 3].map((n) => write(...Array.from({ length: n * 2 }, (_, index) => chunk(index)))),
    );
    expect(await harness.story(id)).toEqual(["working", "a=0", "a+=1", "a+=2", "a+=3", "a+=4", "a+=5!", "completed"]);
  });
});

describe("the output of a step whose result is stored", () => {
  const stepped = (before: string, after: string) => async (task: TaskContext) => {
    await task.artifact("a").write(before);
    await task.step("s", async () => {
      await task.artifact("a").write("s1");
      await task.status("in step");
      await task.artifact("a").write("s2");
    });
    await task.artifact("a").write(after);
  };

  test("is skipped with the step", async () => {
    const { id } = await play([stepped("b", "c"), stepped("b", "c")]);
    expect(await harness.story(id)).toEqual([
      "working",
      "a=b",
      "a+=s1",
      "working:in step",
      "a+=s2",
      "a+=c",
      "a+=!",
      "completed",
    ]);
  });

  test("stays in place if the output after the step differs", async () => {
    const { task } = await play([stepped("b", "c"), stepped("b", "d"), stepped("b", "d")]);
    expect(contents(task)).toEqual({ a: "bs1s2d" });
  });

  test("follows the new output if the output before the step differs", async () => {
    const { id, task } = await play([stepped("b", "c"), stepped("x", "c"), stepped("x", "c")]);
    expect(contents(task)).toEqual({ a: "xs1s2c" });
    expect((await harness.story(id)).slice(6)).toEqual(["a=x", "a+=s1s2", "a+=c", "a+=!", "completed"]);
  });

  test("is not lost if the process dies between the restart and the step", async () => {
    const { task } = await play([stepped("b", "c"), (task) => task.artifact("a").write("x"), stepped("x", "c")]);
    expect(contents(task)).toEqual({ a: "xs1s2c" });
  });

  test("is continued by the next attempt if the step did not finish", async () => {
    const { id } = await play([
      (task) =>
        Promise.race([
          task.step("s", async () => {
            await task.artifact("a").write("1");
            await task.artifact("a").write("2");
            await new Promise(() => {});
          }),
          new Promise((resolve) => setImmediate(resolve)),
        ]),
      (task) =>
        task.step("s", async () => {
          for (const text of ["1", "2", "3"]) await task.artifact("a").write(text);
        }),
      (task) => task.step("s", () => expect.unreachable()),
    ]);
    expect(await harness.story(id)).toEqual(["working", "a=1", "a+=2", "a+=3", "a+=!", "completed"]);
  });

  test("includes output from deep inside of the step, and no output of parallel code", async () => {
    const beside = async (task: TaskContext): Promise<void> => {
      await Promise.all([
        task.step("s", async () => {
          await new Promise((resolve) => setImmediate(resolve));
          await task.artifact("a").write("in");
        }),
        task.artifact("a").write("beside"),
      ]);
    };
    const { id } = await play([beside, beside]);
    expect(await harness.story(id)).toEqual(["working", "a=beside", "a+=in", "a+=!", "completed"]);
    const notes = (await harness.shared.log(id, 0, Number.POSITIVE_INFINITY)).map(({ note }) => note);
    expect(notes.slice(1, 3)).toEqual([undefined, '{"s":"step:s#1"}']);
  });
});

describe("with a transform", () => {
  const shout: EngineHooks = {
    transform: (event) => {
      if (event.kind === "artifact") {
        const parts = event.artifact.parts.map(({ text }) => ({ text: `${text ?? ""}!` }));
        return { ...event, artifact: { ...event.artifact, parts } };
      }
      const { message } = event.status;
      if (message === undefined) return event;
      return { ...event, status: { ...event.status, message: { ...message, parts: [{ text: "changed" }] } } };
    },
  };

  test("the comparison uses what the code wrote, not the transformed event", async () => {
    const said = async (task: TaskContext): Promise<void> => {
      await task.status("one");
      await task.artifact("a").write("1");
      await task.status("two");
      await task.artifact("a").write("2");
    };
    const { id } = await play([said, said], { hooks: shout });
    expect(await harness.story(id)).toEqual([
      "working",
      "working:changed",
      "a=1!",
      "working:changed",
      "a+=2!",
      "a+=!",
      "completed",
    ]);
  });

  test("restarted content is not transformed again, and matches after another crash", async () => {
    const { id, task } = await play(
      [write(["a", "1"], ["a", "2"]), write(["a", "1"], ["a", "two"]), write(["a", "1"], ["a", "two"], ["a", "3"])],
      { hooks: shout },
    );
    expect(contents(task)).toEqual({ a: "1!two!3!" });
    expect(await harness.story(id)).toEqual(["working", "a=1!", "a+=2!", "a=1!", "a+=two!", "a+=3!!", "completed"]);
  });

  test("merged parts stay merged, and a difference within them restarts the artifact", async () => {
    const merge: EngineHooks = {
      transform: (event) =>
        event.kind === "artifact"
          ? {
              ...event,
              artifact: {
                ...event.artifact,
                parts: [{ text: `<${event.artifact.parts.map(({ text }) => text).join("")}>` }],
              },
            }
          : event,
    };
    const parts =
      (...texts: readonly string[]) =>
      (task: TaskContext) =>
        task.artifact("a").write(texts.map((text) => ({ text })));
    const { task } = await play(
      [
        async (task) => {
          await parts("1", "2")(task);
          await parts("3", "4")(task);
        },
        async (task) => {
          await parts("1")(task);
          await parts("2", "3")(task);
          await parts("vier")(task);
        },
        async (task) => {
          await parts("1", "2")(task);
          await parts("3", "vier")(task);
        },
      ],
      { hooks: merge },
    );
    expect(contents(task)).toEqual({ a: "<12><3vier>" });
  });

  test("the transform may be added and removed between attempts", async () => {
    const done = [
      ["a", "1"],
      ["a", "2"],
      ["a", "3"],
    ] as const;
    let stuck = 0;
    const author = scripted(async (task) => {
      await write(...done.slice(0, task.attempt))(task);
      if (task.attempt === 3) return;
      await task.flush();
      stuck = task.attempt;
      await new Promise<never>(() => {});
    });
    harness = await openHarness({ agents: author });
    const { taskId } = await harness.start("go");
    await harness.until(() => stuck === 1);
    harness = await harness.crash({ hooks: shout });
    await harness.until(() => stuck === 2);
    harness = await harness.crash({ hooks: {} });
    await harness.untilState(taskId, "completed");
    expect(contents(await harness.get(taskId))).toEqual({ a: "12!3" });
  });
});
