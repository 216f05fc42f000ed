import { type Artifact, agent, type TaskContext } from "palaver";
import { describe, expect, it, onTestFinished } from "vitest";
import { type AgentClient, connect, type RemoteStreamEvent, type Task, textOf } from "../../src/client.ts";
import { openSite } from "../client/own-server.ts";
import { fixture, until, Workbench } from "../e2e/workbench.ts";
import { answerOf, relayed, taskOf } from "./relaying.ts";

const stateOf = async (remote: AgentClient, id: string | undefined) => (await remote.task(id ?? "").get()).status.state;

/** Waits until the task has a final state. */
async function settled(remote: AgentClient, id: string) {
  const task = await remote.task(id).wait();
  return { state: task.status.state, answer: answerOf(task) };
}

describe("a relayed task that is canceled while it waits for input", () => {
  const asking = async (task: TaskContext): Promise<void> => {
    await task.artifact("answer").write("so far");
    if (task.text === "sign in") await task.requireAuth("Please sign in.");
    else await task.ask("Which one?");
  };

  it.each(["ask", "sign in"])("is canceled on the remote agent (%s)", async (text) => {
    const { front, behind, remoteIds } = await relayed(asking);
    const { id } = taskOf(await front.send(text));
    expect((await front.task(id).cancel()).status.state).toBe("canceled");
    await until(async () => (await stateOf(behind, remoteIds[0])) === "canceled");
  });

  it.each(["ask", "sign in"])(
    "is canceled on the remote agent after a restart in which no run resumed (%s)",
    async (text) => {
      const { front, behind, remoteIds, restart } = await relayed(asking);
      const { id } = taskOf(await front.send(text));
      const again = await restart();
      const canceled = await again.task(id).cancel();
      expect(canceled.status.state).toBe("canceled");
      expect(answerOf(canceled)).toBe("so far");
      await until(async () => (await stateOf(behind, remoteIds[0])) === "canceled");
      expect(remoteIds).toHaveLength(1);
    },
  );

  it("is canceled locally if the remote agent cannot be reached", async () => {
    let isGone = false;
    const { front, restart } = await relayed(asking, {
      fetch: (...request) => (isGone ? Promise.reject(new TypeError("gone")) : fetch(...request)),
    });
    const { id } = taskOf(await front.send("ask"));
    const again = await restart();
    isGone = true;
    expect((await again.task(id).cancel()).status.state).toBe("canceled");
  });
});

describe("the artifacts of a relayed task", () => {
  it("are closed once each, and each text is one part", async () => {
    const { front } = await relayed(async (task) => {
      for (const text of ["one ", "two ", "three"]) {
        await task.artifact("text").write(text);
        await task.flush();
      }
      await task.artifact("ended").write("x");
      await task.flush();
      await task.artifact("ended").end();
      await task.artifact("data").write({ n: 1 });
      await task.flush();
    });
    const marks = new Map<string, boolean[]>();
    const stream = front.stream("go");
    for await (const event of stream) {
      if (event.kind !== "artifact") continue;
      const { artifactId, parts } = event.artifact;
      marks.set(artifactId, [...(marks.get(artifactId) ?? []), event.lastChunk]);
      // Only a closing chunk is empty.
      if (textOf(parts) === "" && parts[0]?.data === undefined) expect(event).toMatchObject({ lastChunk: true });
    }
    for (const [id, lastChunks] of marks) {
      expect([id, lastChunks.filter(Boolean).length, lastChunks.at(-1)]).toEqual([id, 1, true]);
    }
    const parts = (task: Task) => task.artifacts?.map((artifact) => artifact.parts);
    const whole = [[{ text: "one two three" }], [{ text: "x" }], [{ data: { n: 1 } }]];
    const result = taskOf(await stream.result());
    expect(parts(result)).toEqual(whole);
    expect(parts(await front.task(result.id).get())).toEqual(whole);
  });
});

describe("a message to a relayed task that is working", () => {
  const listening = async (task: TaskContext): Promise<void> => {
    const notes = task.artifact("notes");
    await notes.write(`${task.text}: `);
    for (;;) {
      const said = textOf((await task.next()).parts);
      await notes.write(`${said} `);
      if (said === "enough") return;
    }
  };

  it("is relayed in order", async () => {
    const { front, remoteIds } = await relayed(listening);
    const { id } = taskOf(await front.send("notes", { wait: false }));
    for (const word of ["one", "two", "enough"]) await front.task(id).reply(word, { wait: false });
    expect(await settled(front, id)).toEqual({ state: "completed", answer: "notes: one two enough " });
    expect(remoteIds).toHaveLength(1);
  });

  it("is relayed once if the relaying server restarts", async () => {
    const { front, restart } = await relayed(listening);
    const { id } = taskOf(await front.send("notes", { wait: false }));
    await front.task(id).reply("one", { wait: false });
    await until(async () => answerOf(await front.task(id).get()).includes("one"));
    const again = await restart();
    await again.task(id).reply("enough", { wait: false });
    expect(await settled(again, id)).toEqual({ state: "completed", answer: "notes: one enough " });
  });

  it("is not used as the answer to a later question, nor an answer as a message", async () => {
    const { front } = await relayed(async (task) => {
      const notes = task.artifact("notes");
      await notes.write(`said ${textOf((await task.next()).parts)}, `);
      await notes.end(`answered ${await task.ask("Well?")}`);
    });
    const { id } = taskOf(await front.send("go", { wait: false }));
    await front.task(id).reply("this", { wait: false });
    await until(async () => (await stateOf(front, id)) === "input-required");
    expect(answerOf(taskOf(await front.task(id).reply("that")))).toBe("said this, answered that");
  });

  it("becomes a new remote task of the same context if the remote task accepts no more messages", async () => {
    let refuse = true;
    const contexts: string[] = [];
    const go = Promise.withResolvers<void>();
    const { front, remoteIds } = await relayed(
      async (task) => {
        contexts.push(task.contextId);
        await task.artifact("answer").write(`${task.text};`);
        if (task.text === "first") await go.promise;
      },
      {
        fetch: (url, init) => {
          const body = typeof init?.body === "string" ? init.body : "";
          if (!body.includes('"second"') || !refuse) return fetch(url, init);
          refuse = false;
          go.resolve();
          const error = { code: -32004, message: "It is busy." };
          return Promise.resolve(Response.json({ jsonrpc: "2.0", id: JSON.parse(body).id, error }));
        },
      },
    );
    const { id } = taskOf(await front.send("first", { wait: false }));
    await front.task(id).reply("second", { wait: false });
    expect(await settled(front, id)).toEqual({ state: "completed", answer: "first;second;" });
    expect(remoteIds).toHaveLength(2);
    expect(new Set(contexts).size).toBe(1);
  });
});

describe("an artifact that the remote agent replaces", () => {
  const replacing = async (task: TaskContext): Promise<void> => {
    const report = task.artifact("report");
    await report.write("draft one ");
    await report.write("draft two ");
    await task.flush();
    if (task.text === "ask") await task.ask("Is that it?");
    await report.replace("final ");
    await report.write("words");
  };

  function namesAndTexts(artifacts: readonly Artifact[] | undefined): Record<string, string> {
    return Object.fromEntries((artifacts ?? []).map(({ name, parts }) => [name, textOf(parts)]));
  }

  it("is replaced in the local task", async () => {
    const { front } = await relayed(replacing);
    const seen: RemoteStreamEvent[] = [];
    for await (const event of front.stream("go")) seen.push(event);
    const events = seen.flatMap((event) => (event.kind === "artifact" ? [event] : []));
    expect(events.map(({ append, artifact }) => [append, textOf(artifact.parts)])).toEqual([
      [false, "draft one "],
      [true, "draft two "],
      [false, "final "],
      [true, "words"],
    ]);
    const { task } = events.at(-1) ?? {};
    expect(namesAndTexts(task?.artifacts)).toEqual({ report: "final words" });
  });

  it("is replaced after a question and a restart", async () => {
    const { front, restart } = await relayed(replacing);
    const asked = taskOf(await front.send("ask"));
    expect(namesAndTexts(asked.artifacts)).toEqual({ report: "draft one draft two " });
    const again = await restart();
    const task = taskOf(await again.task(asked.id).reply("yes"));
    expect(namesAndTexts(task.artifacts)).toEqual({ report: "final words" });
  });
});

describe("a relaying server that was killed", () => {
  it("resumes the same remote task, and its artifact is complete", async () => {
    const bench = new Workbench();
    onTestFinished(() => bench.close());
    const COUNT = 300;
    let allowed = 20;
    const starts: string[] = [];
    const behind = await openSite(
      agent({
        name: "Behind",
        description: "Counts.",
        version: "1",
        async *run(task) {
          starts.push(task.id);
          for (let index = 0; index < COUNT; index++) {
            await until(() => index < allowed);
            yield `${index};`;
          }
        },
      }),
    );
    onTestFinished(behind.close);
    const serve = () =>
      bench.serve([fixture("relaying-agent.ts"), "--store", "sqlite:tasks.db"], {
        env: { BEHIND: behind.url },
      });
    let server = await serve();
    const { id } = taskOf(await (await connect(server.url)).send("count", { wait: false }));
    for (const reached of [20, 110]) {
      const front = await connect(server.url);
      allowed = reached;
      await until(async () => answerOf(await front.task(id).get()).includes(`${reached - 1};`));
      // Some of the next chunks are in transit when the server is killed.
      allowed = reached + 30;
      await server.kill("SIGKILL");
      server = await serve();
    }
    allowed = COUNT;
    const expected = Array.from({ length: COUNT }, (_, index) => `${index};`).join("");
    expect(await settled(await connect(server.url), id)).toEqual({ state: "completed", answer: expected });
    expect(starts).toHaveLength(1);
  });
});

describe("an auth-required state of the remote task", () => {
  it("is relayed, and the task continues when the authorisation was given elsewhere", async () => {
    const granted = Promise.withResolvers<void>();
    const { front } = await relayed(async (task) => {
      await task.requireAuth("Please sign in.", { until: () => granted.promise });
      await task.artifact("answer").end("signed in");
    });
    const asked = taskOf(await front.send("go"));
    expect(asked.status.state).toBe("auth-required");
    expect(textOf(asked.status.message?.parts ?? [])).toBe("Please sign in.");
    granted.resolve();
    await until(async () => (await stateOf(front, asked.id)) === "completed");
    expect(answerOf(await front.task(asked.id).get())).toBe("signed in");
  });

  it("is still relayed after a restart", async () => {
    const granted = Promise.withResolvers<void>();
    const { front, restart } = await relayed(async (task) => {
      await task.requireAuth("Please sign in.", { until: () => granted.promise });
      await task.artifact("answer").end("signed in");
    });
    const asked = taskOf(await front.send("go"));
    const again = await restart();
    expect(await stateOf(again, asked.id)).toBe("auth-required");
    granted.resolve();
    await until(async () => (await stateOf(again, asked.id)) === "completed");
  });
});

describe("a sensitive question of the remote agent", () => {
  it("is sensitive locally too: the answer is relayed and not stored", async () => {
    const { front, behind, remoteIds } = await relayed(async (task) => {
      const secret = await task.ask("Password?", { sensitive: true });
      await task.artifact("answer").end(secret === "hunter2" ? "right" : "wrong");
    });
    const asked = taskOf(await front.send("go"));
    expect(asked.status.message?.metadata).toMatchObject({ sensitive: true });
    const task = taskOf(await front.task(asked.id).reply("hunter2"));
    expect(answerOf(task)).toBe("right");
    const kept = [await front.task(task.id).get(), await behind.task(remoteIds[0] ?? "").get()];
    expect(JSON.stringify(kept)).not.toContain("hunter2");
  });
});

describe("several open questions of the remote agent", () => {
  it("are asked one after the other, and each gets its own answer", async () => {
    const { front } = await relayed(async (task) => {
      const answers = await Promise.all([task.ask("Send the mail?"), task.ask("Delete all files?")]);
      await task.artifact("answer").end(answers.join("|"));
    });
    const asked: string[] = [];
    const onInput = ({ text }: { readonly text: string }): string => {
      asked.push(text);
      return `to ${text}`;
    };
    const task = taskOf(await front.send("go", { onInput }));
    expect(asked).toEqual(["Send the mail?", "Delete all files?"]);
    expect(answerOf(task)).toBe("to Send the mail?|to Delete all files?");
  });

  it("may be tool calls, and each gets its own result", async () => {
    const { front } = await relayed(async (task) => {
      const first = task.ask("First, please.", { tool: { name: "look", input: 1 } });
      const answers = await Promise.all([first, task.ask("Second, please.", { tool: { name: "look", input: 2 } })]);
      await task.artifact("answer").end(answers.join("|"));
    });
    const task = taskOf(await front.send("go", { tools: { look: (input) => `found ${JSON.stringify(input)}` } }));
    expect(answerOf(task)).toBe("found 1|found 2");
  });
});
