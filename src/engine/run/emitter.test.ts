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

/** One function for each attempt. All but the last end with the death of the process, after what they wrote is committed. */
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

describe("what an attempt writes after a crash", () => {
  test("is not written twice where the log has it already", async () => {
    const all = [
      ["a", "1"],
      ["b", "x"],
      ["a", "2"],
      ["b", "y"],
    ] as const;
    const { id } = await play([write(...all.slice(0, 3)), write(...all)]);
    expect(await harness.story(id)).toEqual(["working", "a=1", "b=x", "a+=2", "b+=y!", "a+=!", "completed"]);
  });

  test("is matched per artifact, whatever the order between them", async () => {
    const { id } = await play([
      write(["a", "1"], ["a", "2"], ["b", "x"]),
      write(["b", "x"], ["a", "1"], ["b", "y"], ["a", "2"]),
    ]);
    expect(await harness.story(id)).toEqual(["working", "a=1", "a+=2", "b=x", "b+=y!", "a+=!", "completed"]);
  });

  test("restarts the artifact at the first difference, and no other one", async () => {
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

  test("replaces the artifact where nothing of it was the same", async () => {
    const { id } = await play([write(["a", "1"], ["a", "2"]), write(["a", "one"], ["a", "2"])]);
    expect(await harness.story(id)).toEqual(["working", "a=1", "a+=2", "a=one", "a+=2!", "completed"]);
  });

  test("restarts what the log holds more of than the run produced in the end", async () => {
    const { id, task } = await play([
      write(["a", "1"], ["a", "2"], ["gone", "x"], ["b", "y"]),
      write(["a", "1"], ["b", "y"]),
    ]);
    expect((await harness.story(id)).slice(5)).toEqual(["a=1!", "gone=!", "b+=!", "completed"]);
    expect(contents(task)).toEqual({ a: "1", gone: "", b: "y" });
    expect(task.artifacts?.find(({ artifactId }) => artifactId === "gone")?.name).toBe("gone");
  });

  test("is compared part by part, however it is cut into chunks", async () => {
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

  test("goes out in several events where a restart is large, all in one commit", async () => {
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

  test("keeps the order of calls that nobody waits for while an artifact is restarted", async () => {
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

  test("is waited for at the end even if the author did not", async () => {
    const { task } = await play([
      write(["a", "1"], ["a", "2"]),
      async (task) => {
        void task.artifact("a").write("one");
        void task.artifact("a").write("two");
      },
    ]);
    expect(contents(task)).toEqual({ a: "onetwo" });
  });

  test("has the same artifact for the same name, whatever is in the name", async () => {
    const name = 'a "quoted"\nname é\u2028';
    const { task } = await play([write([name, "1"], [name, "2"]), write([name, "1"], [name, "two"])]);
    expect(task.artifacts).toEqual([{ artifactId: name, name, parts: [{ text: "1two" }] }]);
  });

  test("keeps description, metadata and extensions of an artifact that is restarted", async () => {
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

  test("says nothing that was said already, and everything from the first difference on", async () => {
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

  test("matches through any number of crashes", async () => {
    const chunk = (n: number) => ["a", `${n}`] as const;
    const { id } = await play(
      [1, 2, 3].map((n) => write(...Array.from({ length: n * 2 }, (_, index) => chunk(index)))),
    );
    expect(await harness.story(id)).toEqual(["working", "a=0", "a+=1", "a+=2", "a+=3", "a+=4", "a+=5!", "completed"]);
  });
});

describe("what a remembered step wrote", () => {
  const stepped = (before: string, after: string) => async (task: TaskContext) => {
    await task.artifact("a").write(before);
    await task.step("s", async () => {
      await task.artifact("a").write("s1");
      await task.status("in step");
      await task.artifact("a").write("s2");
    });
    await task.artifact("a").write(after);
  };

  test("is skipped with it", async () => {
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

  test("stays where the run differs after it", async () => {
    const { task } = await play([stepped("b", "c"), stepped("b", "d"), stepped("b", "d")]);
    expect(contents(task)).toEqual({ a: "bs1s2d" });
  });

  test("follows what the run writes before it, where that differs", async () => {
    const { id, task } = await play([stepped("b", "c"), stepped("x", "c"), stepped("x", "c")]);
    expect(contents(task)).toEqual({ a: "xs1s2c" });
    expect((await harness.story(id)).slice(6)).toEqual(["a=x", "a+=s1s2", "a+=c", "a+=!", "completed"]);
  });

  test("is not lost where the process dies between the restart and the step", async () => {
    const { task } = await play([stepped("b", "c"), (task) => task.artifact("a").write("x"), stepped("x", "c")]);
    expect(contents(task)).toEqual({ a: "xs1s2c" });
  });

  test("is written again by a step that did not finish, and only what the log lacks", async () => {
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

  test("is the step's even deep inside it, and not what goes on beside it", async () => {
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
      return { ...event, status: { ...event.status, message: { ...message, parts: [{ text: "told" }] } } };
    },
  };

  test("what the author wrote is matched, not what became of it", async () => {
    const said = async (task: TaskContext): Promise<void> => {
      await task.status("one");
      await task.artifact("a").write("1");
      await task.status("two");
      await task.artifact("a").write("2");
    };
    const { id } = await play([said, said], { hooks: shout });
    expect(await harness.story(id)).toEqual([
      "working",
      "working:told",
      "a=1!",
      "working:told",
      "a+=2!",
      "a+=!",
      "completed",
    ]);
  });

  test("what is written anew is not transformed again, and matches the next time", async () => {
    const { id, task } = await play(
      [write(["a", "1"], ["a", "2"]), write(["a", "1"], ["a", "two"]), write(["a", "1"], ["a", "two"], ["a", "3"])],
      { hooks: shout },
    );
    expect(contents(task)).toEqual({ a: "1!two!3!" });
    expect(await harness.story(id)).toEqual(["working", "a=1!", "a+=2!", "a=1!", "a+=two!", "a+=3!!", "completed"]);
  });

  test("what it merged stays merged, and a difference within it is written anew", async () => {
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

  test("it may come and go between attempts", async () => {
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
