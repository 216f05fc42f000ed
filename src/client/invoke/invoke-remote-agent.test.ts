import { setTimeout } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { agent } from "../../engine/agent/agent.ts";
import { serving } from "../../plain/test/serving.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import { clientDialect } from "../../wire/client/client-registry.ts";
import { PLAIN_BINDING } from "../../wire/plain/binding.ts";
import { VERSIONS } from "../../wire/registry.ts";
import { type Answer, type Seen, type Served, served } from "../discovery/test/served.ts";
import { createUrlGuard } from "../http/url-guard.ts";
import { type InvokeOptions, invokeRemoteAgent, type RemoteInvocationResult } from "./invoke-remote-agent.ts";

const BASE = "https://agent.example.com";
const CARD = `${BASE}/.well-known/agent-card.json`;
const SEND = `${BASE}/a2a/tasks/send`;
const TASK = `${BASE}/a2a/tasks/t1`;

// The fake clock does not wait for a codec that is still being loaded.
beforeAll(async () => {
  const bindings = ["JSONRPC", "HTTP+JSON", PLAIN_BINDING];
  await Promise.all(
    bindings.flatMap((binding) => VERSIONS.map((protocolVersion) => clientDialect({ binding, protocolVersion }))),
  );
});

function task(state: string, ...texts: readonly string[]): Record<string, unknown> {
  const messages = texts.map((text) => ({ role: "agent", parts: [{ text }] }));
  return { id: "t1", state, messages: [{ role: "user", parts: [{ text: "Summarize this" }] }, ...messages] };
}

/** Returns the answers in order, and repeats the last one. */
function inTurn(
  ...answers: readonly Extract<Answer, object>[]
): (seen: Seen) => ReturnType<Extract<Answer, (seen: Seen) => unknown>> {
  let next = 0;
  return (seen) => {
    const answer = answers[Math.min(next++, answers.length - 1)] ?? new Error("nothing to answer");
    return typeof answer === "function" ? answer(seen) : answer;
  };
}

interface Trial {
  readonly server: Served;
  readonly result: RemoteInvocationResult;
  /** Duration in milliseconds. */
  readonly took: number;
}

async function invoke(table: Readonly<Record<string, Answer>>, options: InvokeOptions = {}): Promise<Trial> {
  const clock = new FakeClock();
  const server = served(table);
  const began = clock.now();
  let result: RemoteInvocationResult | undefined;
  const done = invokeRemoteAgent(`${BASE}/`, "Summarize this", { fetch: server.fetch, clock, ...options }).then(
    (given) => {
      result = given;
    },
  );
  for (let step = 0; step < 1000 && result === undefined; step++) {
    await clock.advance(0);
    if (result === undefined) await clock.advance(500);
  }
  await done;
  expect(clock.pending).toBe(0);
  return { server, result: result ?? { success: false }, took: clock.now() - began };
}

describe("Scenario: Remote agent invocation", () => {
  it("submits, polls every 3 seconds, and returns the last message of the agent", async () => {
    const { server, result, took } = await invoke({
      [SEND]: task("submitted"),
      [TASK]: inTurn(task("working", "On it"), task("working", "On it"), task("completed", "On it", "Summary...")),
    });
    expect(result).toEqual({ success: true, taskId: "t1", responseText: "Summary..." });
    expect(took).toBe(9000);
    expect(server.asked.slice(-4)).toEqual([`POST ${SEND}`, `GET ${TASK}`, `GET ${TASK}`, `GET ${TASK}`]);
    expect(JSON.parse(server.seen.at(-4)?.body ?? "")).toEqual({ message: "Summarize this", timeoutMs: 300_000 });
  });

  it("returns an immediate answer, and sends the skill", async () => {
    const { server, result, took } = await invoke(
      { [SEND]: task("completed", "Done") },
      { skill: "sum", timeoutMs: 1000 },
    );
    expect(result).toEqual({ success: true, taskId: "t1", responseText: "Done" });
    expect(took).toBe(0);
    expect(JSON.parse(server.seen.at(-1)?.body ?? "")).toMatchObject({ skill: "sum", timeoutMs: 1000 });
  });
});

describe("Error cases", () => {
  it.each<[string, Readonly<Record<string, Answer>>, RemoteInvocationResult]>([
    [
      "the submission fails",
      { [SEND]: new Response("", { status: 500 }) },
      { success: false, error: "Submit failed: HTTP 500" },
    ],
    [
      "the submission fails with a message",
      { [SEND]: Response.json({ error: "No" }, { status: 422 }) },
      { success: false, error: "Submit failed: HTTP 422" },
    ],
    ["the server answers 404", {}, { success: false, error: "Submit failed: HTTP 404" }],
    [
      "the task fails with a message",
      { [SEND]: task("failed", "Out of ink") },
      { success: false, taskId: "t1", error: "Out of ink" },
    ],
    [
      "the task fails without a message",
      { [SEND]: task("submitted"), [TASK]: task("failed") },
      { success: false, taskId: "t1", error: "Task failed" },
    ],
    [
      "the task never ends",
      { [SEND]: task("submitted"), [TASK]: task("working") },
      { success: false, taskId: "t1", error: "Timed out after 300000ms" },
    ],
    [
      "the task no longer exists",
      { [SEND]: task("submitted"), [TASK]: new Response("", { status: 404 }) },
      { success: false, taskId: "t1", error: expect.stringContaining("404") },
    ],
  ])("returns an error if %s", async (_what, table, expected) => {
    const { result } = await invoke(table);
    expect(result).toEqual(expected);
  });

  it("returns an error if the server is unreachable", async () => {
    const { result } = await invoke({ [CARD]: new Error("ECONNREFUSED"), [SEND]: new Error("ECONNREFUSED") });
    expect(result).toEqual({ success: false, error: expect.stringMatching(/^Submit failed: .*could not be reached/) });
  });

  it("polls again if a poll fails temporarily", async () => {
    const { result, took } = await invoke({
      [SEND]: task("submitted"),
      [TASK]: inTurn(
        new Error("ECONNRESET"),
        new Response("", { status: 502 }),
        () => new Promise(() => {}),
        task("completed", "At last"),
      ),
    });
    expect(result).toEqual({ success: true, taskId: "t1", responseText: "At last" });
    expect(took).toBe(4 * 3000 + 30_000);
  });

  it("ends at the timeout in every phase", async () => {
    const never = (): Promise<Response> => new Promise(() => {});
    for (const table of [{ [CARD]: never }, { [SEND]: never }]) {
      const { result, took } = await invoke(table, { timeoutMs: 5000 });
      expect(result).toEqual({ success: false, error: "Timed out after 5000ms" });
      expect(took).toBe(5000);
    }
    const { result } = await invoke({ [SEND]: task("submitted"), [TASK]: never }, { timeoutMs: 5000 });
    expect(result).toEqual({ success: false, taskId: "t1", error: "Timed out after 5000ms" });
  });

  it("ends when the caller aborts", async () => {
    const { result } = await invoke({ [SEND]: task("submitted") }, { signal: AbortSignal.abort() });
    expect(result).toEqual({ success: false, error: expect.stringContaining("aborted") });
  });

  it("does not call URLs that the guard forbids", async () => {
    const table = {
      [CARD]: { name: "A", version: "1", url: "http://169.254.169.254/" },
      [SEND]: task("completed", "no"),
    };
    const { server, result } = await invoke(table, { guard: createUrlGuard() });
    expect(result).toEqual({ success: false, error: expect.stringContaining("must not be called") });
    expect(server.asked).toEqual([`GET ${CARD}`]);
  });
});

describe("the dialect of an invocation", () => {
  const asTask = (state: string, more: object = {}): Record<string, unknown> => ({
    jsonrpc: "2.0",
    result: { kind: "task", id: "t1", contextId: "c1", status: { state, timestamp: "2030-01-01T00:00:00Z" }, ...more },
  });
  const says = (text: string, role = "agent"): object => ({
    kind: "message",
    messageId: text,
    role,
    parts: [{ kind: "text", text }],
  });
  const card = { name: "A", version: "1", protocolVersion: "0.3.0", url: `${BASE}/rpc` };

  it("is the one that the card declares", async () => {
    const { server, result } = await invoke({
      [CARD]: card,
      [`${BASE}/rpc`]: inTurn(
        { jsonrpc: "2.0", error: { code: -32001, message: "Task not found" } },
        asTask("working"),
        asTask("completed", {
          artifacts: [{ artifactId: "a", parts: [{ kind: "text", text: "made" }] }],
          history: [says("on it"), says("hello", "user")],
        }),
      ),
    });
    expect(result).toEqual({ success: true, taskId: "t1", responseText: "made" });
    expect(server.seen.slice(1).map(({ body }) => JSON.parse(body).method)).toEqual([
      "tasks/get",
      "message/send",
      "tasks/get",
    ]);
    expect(JSON.parse(server.seen[2]?.body ?? "").params.configuration.blocking).toBe(false);
  });

  it.each<[string, object, string]>([
    [
      "the message of the final status",
      {
        status: { state: "completed", message: says("the end") },
        artifacts: [{ artifactId: "a", parts: [{ kind: "text", text: "made" }] }],
        history: [says("before")],
      },
      "the end",
    ],
    [
      "the last message of the agent in the history",
      { history: [says("one"), says("two"), says("hello", "user")] },
      "two",
    ],
    [
      "the text of the artifacts",
      {
        artifacts: [
          {
            artifactId: "a",
            parts: [
              { kind: "text", text: "ma" },
              { kind: "text", text: "de" },
            ],
          },
          { artifactId: "b", parts: [{ kind: "text", text: "more" }] },
        ],
      },
      "made\n\nmore",
    ],
    ["an empty text", {}, ""],
  ])("returns %s", async (_what, members, text) => {
    const { result } = await invoke({ [CARD]: card, [`${BASE}/rpc`]: asTask("completed", members) });
    expect(result).toEqual({ success: true, taskId: "t1", responseText: text });
  });

  it("returns a message without a task", async () => {
    const { result } = await invoke({ [CARD]: card, [`${BASE}/rpc`]: { jsonrpc: "2.0", result: says("Hi") } });
    expect(result).toEqual({ success: true, responseText: "Hi" });
  });

  it.each<[string, object]>([
    ["rejected", {}],
    ["canceled", {}],
  ])("reports a %s task as failed", async (state, members) => {
    const { result } = await invoke({ [CARD]: card, [`${BASE}/rpc`]: asTask(state, members) });
    expect(result).toEqual({ success: false, taskId: "t1", error: "Task failed" });
  });

  it("waits until the timeout for a task that asks a question", async () => {
    const table = { [CARD]: card, [`${BASE}/rpc`]: asTask("input-required") };
    expect((await invoke(table, { timeoutMs: 10_000 })).result.error).toBe("Timed out after 10000ms");
  });

  it("returns the error of the agent", async () => {
    const refused = { jsonrpc: "2.0", id: 1, error: { code: -32602, message: "No such skill" } };
    const { result } = await invoke({ [CARD]: card, [`${BASE}/rpc`]: refused });
    expect(result).toEqual({ success: false, error: "Submit failed: No such skill" });
  });

  it.each<[string, Answer]>([
    ["the card's URL answers 404", new Response("", { status: 404 })],
    ["the card's URL does not know the method", { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "?" } }],
    ["the card's URL answers with a page", new Response("<html>", { headers: { "content-type": "text/html" } })],
  ])("is the plain dialect if %s", async (_what, answer) => {
    const table = {
      [CARD]: { name: "A", version: "1", url: BASE },
      [`${BASE}/`]: answer,
      [SEND]: task("completed", "plain"),
    };
    const { server, result } = await invoke(table);
    expect(result).toEqual({ success: true, taskId: "t1", responseText: "plain" });
    const posts = server.seen.filter(({ body }) => body.includes("Summarize this"));
    expect(posts.map(({ url }) => url)).toEqual([SEND]);
  });
});

describe("a Palaver server", () => {
  const greeter = agent({
    name: "Greeter",
    description: "Greets.",
    version: "1.0.0",
    async run(work) {
      if (work.text === "fail") throw new Error("inside");
      await work.status("Thinking");
      return `Hello, ${work.text}!`;
    },
  });

  it.each(VERSIONS)("answers in version %s", async (version) => {
    const versions = version === "plain" ? ["plain", VERSIONS[0] ?? ""] : [version];
    await using server = serving(greeter, { versions });
    const fetch = (input: string | URL | Request, init?: RequestInit): Promise<Response> =>
      server.fetch(new Request(input, init));
    const clock = new FakeClock();
    const invoking = async (text: string): Promise<RemoteInvocationResult> => {
      const result = invokeRemoteAgent("https://agents.example", text, { fetch, clock });
      const ended = result.then(() => true);
      // The server and the loading of codecs do not use the fake clock.
      while (!(await Promise.race([ended, clock.advance(1000).then(() => false)]))) await setTimeout(5);
      return result;
    };
    expect(await invoking("Ada")).toEqual({ success: true, taskId: expect.any(String), responseText: "Hello, Ada!" });
    expect(await invoking("fail")).toMatchObject({ success: false, error: expect.not.stringContaining("inside") });
  });
});
