import { describe, expect, test } from "vitest";
import { z } from "zod";
import { encryptTo } from "../../../auth/secret-box.ts";
import { authRequestOf, secretPart } from "../../../protocol/auth-request-part.ts";
import { A2AError } from "../../../protocol/error.ts";
import { answerMetadata, inputRequestsOf } from "../../../protocol/input-request.ts";
import type { JsonValue } from "../../../protocol/json.ts";
import type { Part } from "../../../protocol/part.ts";
import { textOf } from "../../../protocol/part.ts";
import type { Task } from "../../../protocol/task.ts";
import { toolResultPart, toolUsePart } from "../../../protocol/tool-part.ts";
import {
  type EngineHarness,
  type MessageInput,
  openHarness,
  scripted,
  turns,
} from "../../../testing/engine-harness.ts";
import { everythingStored } from "../../../testing/everything-stored.ts";
import type { Agent } from "../../agent/agent.ts";

const both: Agent = scripted(async (task) => {
  const answers = await Promise.all([task.ask("Send the mail?"), task.ask("Delete all files?")]);
  return answers.join("|");
});

/** The open questions of a task: prompt and request id. */
function openIn(task: Task): Record<string, string> {
  return Object.fromEntries(inputRequestsOf(task.status.message).map(({ prompt, requestId }) => [prompt, requestId]));
}

function idOf(task: Task, prompt: string): string {
  const id = openIn(task)[prompt];
  if (id === undefined) throw new Error(`${prompt} is not open.`);
  return id;
}

function byResult(task: Task, results: Readonly<Record<string, JsonValue>>): MessageInput {
  const parts = Object.entries(results).map(([prompt, result]) =>
    toolResultPart({ toolUseId: idOf(task, prompt), result }),
  );
  return { taskId: task.id, parts };
}

function byMetadata(task: Task, prompt: string, parts: string | readonly Part[]): MessageInput {
  return {
    taskId: task.id,
    parts: typeof parts === "string" ? [{ text: parts }] : parts,
    metadata: answerMetadata(idOf(task, prompt)),
  };
}

async function refusalOf(harness: EngineHarness, said: MessageInput): Promise<A2AError> {
  const error: unknown = await harness.start(said).catch((thrown: unknown) => thrown);
  if (!(error instanceof A2AError)) throw new Error("It was not refused.");
  return error;
}

const resultOf = (task: Task): string => textOf(task.artifacts?.[0]?.parts ?? []);

describe("questions asked at the same time", () => {
  test("share one status that shows each of them with its request id", async () => {
    await using harness = await openHarness({ agents: both });
    const task = await harness.send("go");
    expect(Object.keys(openIn(task))).toEqual(["Send the mail?", "Delete all files?"]);
    expect(textOf(task.status.message?.parts ?? [])).toBe("Send the mail?\nDelete all files?");
    expect(task.status.message?.metadata?.["inputRequest"]).toMatchObject({ prompt: "Send the mail?" });
    expect(await harness.story(task.id)).toEqual(["working", "input-required:Send the mail?\nDelete all files?"]);
  });

  test.each([
    ["Send the mail?", "Delete all files?"],
    ["Delete all files?", "Send the mail?"],
  ])("are answered one by one, %s first", async (first, second) => {
    await using harness = await openHarness({ agents: both });
    const task = await harness.send("go");
    const partly = await harness.send(byResult(task, { [first]: `yes to ${first}` }));
    expect(partly.status.state).toBe("input-required");
    expect(openIn(partly)).toEqual({ [second]: idOf(task, second) });
    const done = await harness.send(byMetadata(partly, second, `yes to ${second}`));
    expect(resultOf(done)).toBe("yes to Send the mail?|yes to Delete all files?");
  });

  test("the last one may be answered without its id", async () => {
    await using harness = await openHarness({ agents: both });
    const task = await harness.send("go");
    await harness.send(byResult(task, { "Delete all files?": "no" }));
    expect(resultOf(await harness.send({ taskId: task.id, parts: [{ text: "yes" }] }))).toBe("yes|no");
  });

  test("an answer without an id is rejected with the open ids and prompts, and not stored", async () => {
    await using harness = await openHarness({ agents: both });
    const task = await harness.send("go");
    const { code, message, violations } = await refusalOf(harness, { taskId: task.id, parts: [{ text: "yes" }] });
    expect(code).toBe("invalid-params");
    expect(violations?.[0]?.field).toBe("message.metadata.inputRequest.requestId");
    for (const [prompt, id] of Object.entries(openIn(task))) expect(message).toContain(`${id} ("${prompt}")`);
    expect(await harness.shared.inbox(task.id)).toEqual([]);
    expect((await harness.get(task.id)).history).toHaveLength(2);
  });

  test("an answer to an unknown or a closed question is rejected, and the error names the field", async () => {
    await using harness = await openHarness({ agents: both });
    const task = await harness.send("go");
    const unknown = toolResultPart({ toolUseId: "unknown", result: 1 });
    const first = await refusalOf(harness, { taskId: task.id, parts: [{ text: "see" }, unknown] });
    expect(first).toMatchObject({
      code: "invalid-params",
      message: expect.stringMatching(/^message\.parts\[1\]\.data\.toolUseId: does not match any question of the task/),
    });
    const mail = byResult(task, { "Send the mail?": "yes" });
    await harness.send(mail);
    expect((await refusalOf(harness, mail)).message).toMatch(/^message\.parts\[0\].*already answered or closed/);
    const named = byMetadata(task, "Send the mail?", "yes");
    expect((await refusalOf(harness, named)).message).toMatch(/^message\.metadata\.inputRequest\.requestId: /);
    expect(await harness.shared.inbox(task.id)).toEqual([]);
  });

  test("one message may answer several questions with one tool result each", async () => {
    await using harness = await openHarness({ agents: both });
    const task = await harness.send("go");
    const done = await harness.send(byResult(task, { "Delete all files?": "no", "Send the mail?": "yes" }));
    expect(resultOf(done)).toBe("yes|no");
    expect(await harness.story(task.id)).toEqual([
      "working",
      "input-required:Send the mail?\nDelete all files?",
      "working",
      "result=yes|no!",
      "completed",
    ]);
    expect(done.history).toHaveLength(3);
  });

  test("two sends that answer one question each both wait for the result", async () => {
    await using harness = await openHarness({ agents: both });
    const task = await harness.send("go");
    const sends = Object.keys(openIn(task)).map((prompt) => harness.send(byResult(task, { [prompt]: "yes" })));
    expect((await Promise.all(sends)).map(resultOf)).toEqual(["yes|yes", "yes|yes"]);
  });

  test("the second of two concurrent answers to one question answers no other question, and its send returns", async () => {
    await using harness = await openHarness({ agents: both });
    const task = await harness.send("go");
    const sends = ["yes", "yes again"].map((text) => harness.send(byMetadata(task, "Send the mail?", text)));
    for (const { status } of await Promise.all(sends)) expect(status.state).toBe("input-required");
    const done = await harness.send(byResult(task, { "Delete all files?": "no" }));
    expect(resultOf(done)).toContain("yes|no");
  });

  test("after an invalid answer the question is asked again with a new id, and the other one stays open", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        const [count, name] = await Promise.all([task.ask("How many?", { schema: z.number() }), task.ask("Who?")]);
        return `${count}|${name}`;
      }),
    });
    const task = await harness.send("go");
    const again = await harness.send(byResult(task, { "How many?": "lots" }));
    const requests = inputRequestsOf(again.status.message);
    expect(requests.map(({ prompt }) => prompt)).toEqual([
      "Who?",
      expect.stringMatching(/is not valid.*\nHow many\?$/),
    ]);
    expect(requests[0]?.requestId).toBe(idOf(task, "Who?"));
    expect(requests[1]?.requestId).not.toBe(idOf(task, "How many?"));
    const parts = [
      toolResultPart({ toolUseId: requests[1]?.requestId ?? "", result: 3 }),
      toolResultPart({ toolUseId: idOf(task, "Who?"), result: "Ann" }),
    ];
    expect(resultOf(await harness.send({ taskId: task.id, parts }))).toBe("3|Ann");
  });

  test("a question that times out leaves the others open", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        const quick = task.ask("Quick?", { timeout: 5000, onTimeout: "continue" });
        const [first, second] = await Promise.all([quick, task.ask("Slow?")]);
        return `${String(first)}|${second}`;
      }),
    });
    const task = await harness.send("go");
    await harness.advance(6000);
    const late = await harness.get(task.id);
    expect(openIn(late)).toEqual({ "Slow?": idOf(task, "Slow?") });
    expect((await refusalOf(harness, byResult(task, { "Quick?": 1 }))).message).toMatch(/already answered or closed/);
    expect(resultOf(await harness.send({ taskId: task.id, parts: [{ text: "fine" }] }))).toBe("undefined|fine");
  });

  test("are shown again after output has hidden them and the run is quiet", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        const work = task.ask("First?").then(() => task.artifact("a").write("working on it"));
        await Promise.all([work, task.ask("Second?")]);
      }),
    });
    const task = await harness.send("go");
    await harness.start(byResult(task, { "First?": "yes" }));
    await harness.untilState(task.id, "working");
    await harness.advance(3000);
    const shown = await harness.get(task.id);
    expect(shown.status.state).toBe("input-required");
    expect(openIn(shown)).toEqual({ "Second?": idOf(task, "Second?") });
    await harness.send({ taskId: task.id, parts: [{ text: "2" }] });
    await harness.untilState(task.id, "completed");
  });

  test("task.next() does not read a message that answers one of them", async () => {
    const read: string[] = [];
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        const listening = (async () => {
          for (;;) read.push(textOf((await task.next()).parts));
        })();
        listening.catch(() => {});
        return task.ask("Sure?");
      }),
    });
    const task = await harness.send("go");
    expect(resultOf(await harness.send({ taskId: task.id, parts: [{ text: "yes" }] }))).toBe("yes");
    expect(read).toEqual([]);
  });

  test("an answer may name a question by the id of a tool use in it", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        const relayed = task.ask([{ text: "Look!" }, toolUsePart({ toolUseId: "theirs", name: "search" })]);
        return (await Promise.all([relayed, task.ask("Well?")])).join("|");
      }),
    });
    const task = await harness.send("go");
    await harness.send({ taskId: task.id, parts: [toolResultPart({ toolUseId: "theirs", result: "found" })] });
    expect(resultOf(await harness.send({ taskId: task.id, parts: [{ text: "fine" }] }))).toBe("found|fine");
  });

  test("are limited to 100", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await Promise.all(Array.from({ length: 101 }, (_, index) => task.ask(`Question ${index}?`)));
      }),
    });
    const { taskId } = await harness.start("go");
    await harness.untilState(taskId, "failed");
  });
});

describe("an answer without an id", () => {
  test.each([
    ["one question is open and the next is on its way into the store", true],
    ["no question is open and one is on its way into the store", false],
  ])("that is accepted while %s does not answer that one", async (_name, isOpen) => {
    const reading = Promise.withResolvers<void>();
    const read = Promise.withResolvers<void>();
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        const schema = z.string().refine(async () => {
          if (isOpen) await reading.promise;
          return true;
        });
        await task.ask("Send the mail?", { schema });
        read.resolve();
        if (!isOpen) await reading.promise;
        return task.ask("Delete all files?");
      }),
    });
    const { id } = await harness.send("go");
    await harness.start({ taskId: id, parts: [{ text: "yes" }] });
    if (!isOpen) {
      await read.promise;
      await harness.untilState(id, "working");
    }
    await turns(5);
    harness.store.hold();
    reading.resolve();
    await harness.until(() => harness.store.held === 1);
    const second = harness.begin({ taskId: id, parts: [{ text: "yes, as I said" }] });
    await turns(5);
    harness.store.release();
    await harness.settled(await second);
    await turns(20);
    const task = await harness.get(id);
    expect(Object.keys(openIn(task))).toEqual(["Delete all files?"]);
    // The message is not lost: it begins the next turn.
    expect(await harness.shared.inbox(id)).toHaveLength(1);
  });
});

describe("questions after a restart", () => {
  test("keep their ids, and answered ones return the same answers, in any order", async () => {
    for (const [first, second] of [
      ["Send the mail?", "Delete all files?"],
      ["Delete all files?", "Send the mail?"],
    ] as const) {
      const before = await openHarness({ agents: both });
      const task = await before.send("go");
      const between = await before.crash();
      expect(openIn(await between.get(task.id))).toEqual(openIn(task));
      await between.send(byResult(task, { [first]: `to ${first}` }));
      await using after = await between.crash();
      expect(openIn(await after.get(task.id))).toEqual({ [second]: idOf(task, second) });
      expect((await refusalOf(after, byResult(task, { [first]: "once more" }))).code).toBe("invalid-params");
      const done = await after.send(byResult(task, { [second]: `to ${second}` }));
      expect(resultOf(done)).toBe("to Send the mail?|to Delete all files?");
      expect((await after.story(task.id)).filter((line) => line.startsWith("input-required"))).toHaveLength(2);
    }
  });

  test("can be answered while their run is parked", async () => {
    await using harness = await openHarness({ agents: both, parkAfter: 1000 });
    const task = await harness.send("go");
    await harness.advance(3000);
    expect(harness.engine.counts().live).toBe(0);
    expect((await refusalOf(harness, { taskId: task.id, parts: [{ text: "yes" }] })).code).toBe("invalid-params");
    const partly = await harness.send(byResult(task, { "Delete all files?": "no" }));
    expect(openIn(partly)).toEqual({ "Send the mail?": idOf(task, "Send the mail?") });
    await harness.advance(3000);
    expect(resultOf(await harness.send(byResult(task, { "Send the mail?": "yes" })))).toBe("yes|no");
  });

  test("are known to every node", async () => {
    await using first = await openHarness({ agents: both });
    const second = await first.join();
    const task = await first.send("go");
    const unnamed = { taskId: task.id, parts: [{ text: "yes" }] };
    expect((await refusalOf(second, unnamed)).message).toContain("Delete all files?");
    await second.start(byResult(task, { "Send the mail?": "yes" }));
    await first.advance(2000);
    expect((await refusalOf(second, byResult(task, { "Send the mail?": "yes" }))).code).toBe("invalid-params");
    await second.start(byResult(task, { "Delete all files?": "no" }));
    await first.advance(2000);
    expect(resultOf(await second.get(task.id))).toBe("yes|no");
  });

  test("a message that answers two survives a crash between the two", async () => {
    let slow = true;
    const first = await openHarness({
      agents: scripted(async (task) => {
        const schema = z.string().refine(async () => {
          if (slow) await new Promise<never>(() => {});
          return true;
        });
        const answers = await Promise.all([task.ask("Quick?"), task.ask("Slow?", { schema })]);
        return answers.join("|");
      }),
    });
    const task = await first.send("go");
    await first.start(byResult(task, { "Quick?": "1", "Slow?": "2" }));
    await turns(20);
    slow = false;
    await using second = await first.crash();
    await second.untilState(task.id, "completed");
    const done = await second.get(task.id);
    expect(resultOf(done)).toBe("1|2");
    expect(done.history).toHaveLength(3);
  });
});

describe("questions of different kinds", () => {
  const mixed = (got: unknown[]): Agent =>
    scripted(async (task) => {
      const name = task.ask("Your name?");
      const pin = task.ask("Your PIN?", { sensitive: true });
      got.push(...(await Promise.all([name, pin])), ...task.history.map(({ parts }) => textOf(parts)));
    });

  test("the answer to a sensitive question is sealed, the answer to the other one is in the history", async () => {
    const got: unknown[] = [];
    await using harness = await openHarness({ agents: mixed(got) });
    const task = await harness.send("go");
    expect(task.status.message?.metadata).toMatchObject({
      sensitive: true,
      inputRequests: [{ prompt: "Your name?" }, { prompt: "Your PIN?", sensitive: true }],
    });
    await harness.send(byMetadata(task, "Your name?", "Ann"));
    const done = await harness.send(byMetadata(task, "Your PIN?", "hunter2"));
    expect(got).toEqual(["Ann", "hunter2", "go", "Ann"]);
    expect(done.history?.map(({ parts }) => textOf(parts))).toContain("Ann");
    expect(JSON.stringify([await everythingStored(harness), harness.store.commits, done])).not.toContain("hunter2");
  });

  test("a message that answers both is sealed as a whole", async () => {
    const got: unknown[] = [];
    await using harness = await openHarness({ agents: mixed(got) });
    const task = await harness.send("go");
    const done = await harness.send(byResult(task, { "Your name?": "Ann", "Your PIN?": "hunter2" }));
    expect(got).toEqual(["Ann", "hunter2", "go"]);
    expect(JSON.stringify([await everythingStored(harness), harness.store.commits, done])).not.toContain("hunter2");
  });

  test("a rejected answer is not stored anywhere", async () => {
    await using harness = await openHarness({ agents: mixed([]) });
    const task = await harness.send("go");
    const error = await refusalOf(harness, { taskId: task.id, parts: [{ text: "hunter2" }] });
    const everything = [await everythingStored(harness), harness.store.commits, harness.logs, error.message];
    expect(JSON.stringify(everything)).not.toContain("hunter2");
  });

  test("the status distinguishes an authorisation and a question", async () => {
    const secretAnd: Agent = scripted(async (task) => {
      const need = task.requireAuth({ message: "Your token?", secret: true });
      const [token, name, message] = await Promise.all([need, task.ask("Your name?"), task.requireAuth("Log in.")]);
      return `${token.length}|${name}|${textOf(message?.parts ?? [])}`;
    });
    await using harness = await openHarness({ agents: secretAnd });
    const { taskId } = await harness.start("go");
    await harness.until(async () => Object.keys(openIn(await harness.get(taskId))).length === 3);
    const task = await harness.get(taskId);
    expect(task.status.state).toBe("input-required");
    const need = (task.status.message?.parts ?? []).flatMap((part) => authRequestOf(part) ?? [])[0];
    expect(need?.requestId).toBe(idOf(task, "Your token?"));
    const noName = await harness.send(byMetadata(task, "Your name?", "Ann"));
    expect(noName.status.state).toBe("auth-required");
    const jwe = await encryptTo(need?.key ?? {}, "hunter2");
    await harness.send(byMetadata(task, "Your token?", [secretPart(jwe)]));
    const done = await harness.send({ taskId, parts: [{ text: "done" }] });
    expect(resultOf(done)).toBe("7|Ann|done");
    expect(JSON.stringify(await everythingStored(harness))).not.toContain("hunter2");
  });

  test("an authorisation that is given outside of the protocol leaves the question open", async () => {
    let authorise: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        const until = (): Promise<void> => new Promise((resolve) => (authorise = resolve));
        const [, name] = await Promise.all([task.requireAuth("Log in.", { until }), task.ask("Your name?")]);
        return name;
      }),
    });
    const task = await harness.send("go");
    await harness.until(() => authorise !== undefined);
    authorise?.();
    await harness.until(async () => Object.keys(openIn(await harness.get(task.id))).length === 1);
    expect(resultOf(await harness.send({ taskId: task.id, parts: [{ text: "Ann" }] }))).toBe("Ann");
  });
});
