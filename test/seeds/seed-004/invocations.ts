import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import type { Binding } from "../../peers/line.ts";
import type { ServerLine } from "../../remote-peers/server-line.ts";
import { SERVERS } from "../../remote-peers/servers.ts";
import { post } from "../exchange.ts";
import { ID } from "../matchers.ts";
import { resultOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { type Invoked, type InvokingOptions, invoking, listenIn, listenWithoutCards, serveCard } from "./invoking.ts";
import { seed } from "./seed.ts";

const HOME = { defaultProjectId: "project-1" };
const SEND = "POST /a2a/tasks/send";

/** Starts an official server, invokes its agent, and stops the server. */
async function invokingOfficial(
  line: ServerLine,
  message: string,
  { binding = "JSONRPC", ...options }: InvokingOptions & { readonly binding?: Binding } = {},
): Promise<Invoked> {
  const official = await line.start({ binding });
  try {
    return await invoking(official.url, message, options);
  } finally {
    await official.close();
  }
}

it(
  seed.example(
    "Exported Functions › invokeRemoteAgent",
    "a message is answered by this server and by official servers of every version and binding",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => `Summary of ${task.text}`, HOME);
    const own = await invoking(testServer.url, "this");
    expect(own.result).toEqual({ success: true, taskId: ID, responseText: "Summary of this" });
    for (const line of SERVERS) {
      // The function is defined over HTTP with JSON.
      for (const binding of line.bindings.filter((name) => name !== "GRPC")) {
        const { result } = await invokingOfficial(line, "Summarize this", { binding });
        expect(result, `${line.protocol} ${binding}`).toEqual({
          success: true,
          taskId: ID,
          responseText: "Summarize this",
        });
      }
    }
  },
);

it(
  seed.example(
    "Scenario: Remote agent invocation › invokeRemoteAgent",
    "posts to /a2a/tasks/send, polls, and returns the summary",
  ),
  async () => {
    const gate = createGate();
    await using testServer = await serveScript(async (task) => {
      await gate.passed(task.signal);
      return "Summary...";
    }, HOME);
    const { result, asked } = await invoking(testServer.url, "Summarize this", {
      listening: listenWithoutCards(),
      beforeLook: () => gate.open(),
    });
    expect(result).toEqual({ success: true, taskId: ID, responseText: "Summary..." });
    expect(asked[0]).toBe(SEND);
    const looks = asked.slice(1);
    expect(looks.length).toBeGreaterThan(0);
    expect(new Set(looks)).toEqual(new Set([`GET /a2a/tasks/${result.taskId}`]));
  },
);

it(
  seed.example(
    "Invariants › 10 polling every 3 seconds",
    "GET /a2a/tasks/:id every 3 seconds until the task has ended",
  ),
  async () => {
    const gate = createGate();
    const ended = createGate();
    await using testServer = await serveScript(
      async (task) => {
        await gate.passed(task.signal);
        return "done";
      },
      HOME,
      {
        on: { event: (event) => void (event.kind === "status" && event.status.state === "completed" && ended.open()) },
      },
    );
    const { result, looks, asked } = await invoking(testServer.url, "Hello", {
      listening: listenWithoutCards(),
      async beforeLook(count) {
        if (count < 3) return;
        gate.open();
        await ended.passed(new AbortController().signal);
      },
    });
    expect(result).toMatchObject({ success: true, responseText: "done" });
    expect(looks).toEqual([3000, 6000, 9000, 12_000]);
    expect(asked).toEqual([SEND, ...looks.map(() => `GET /a2a/tasks/${result.taskId}`)]);
  },
);

it(
  seed.example(
    "Invariants › 11 last agent message › invokeRemoteAgent",
    "returns the last message or output of the agent, in every dialect",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.status("Looking");
      const answer = task.artifact("answer");
      await answer.write("Forty");
      await answer.end("-two");
    }, HOME);
    for (const listening of [listenIn(), listenWithoutCards()]) {
      const { result } = await invoking(testServer.url, "Hello", { listening });
      expect(result).toEqual({ success: true, taskId: ID, responseText: "Forty-two" });
    }
  },
);

it(
  seed.example(
    "Error Cases › task submission fails › invokeRemoteAgent",
    "returns success: false with the HTTP status; throws nothing",
  ),
  async () => {
    await using testServer = await serveScript(async () => "done", HOME);
    const refused = await invoking(testServer.url, "", { listening: listenWithoutCards() });
    expect(refused.result).toEqual({ success: false, error: "Submit failed: HTTP 400" });
    await using nobody = await serveCard({}, 500);
    const missing = await invoking(nobody.url, "Hello");
    expect(missing.result).toEqual({ success: false, error: "Submit failed: HTTP 404" });
  },
);

it(
  seed.example("Error Cases › poll times out", "returns success: false with the milliseconds waited and the task id"),
  async () => {
    await using testServer = await serveScript((task) => createGate().passed(task.signal), HOME);
    for (const listening of [listenIn(), listenWithoutCards()]) {
      const { result, looks } = await invoking(testServer.url, "Hello", { listening, timeoutMs: 10_000 });
      expect(result).toEqual({ success: false, taskId: ID, error: "Timed out after 10000ms" });
      expect(looks).toEqual([3000, 6000, 9000]);
    }
    for (const line of SERVERS) {
      const hung = await invokingOfficial(line, "hang", { timeoutMs: 5000 });
      expect(hung.result, line.protocol).toEqual({ success: false, taskId: ID, error: "Timed out after 5000ms" });
    }
  },
);

it(
  seed.example(
    "Error Cases › remote task fails › invokeRemoteAgent",
    "returns success: false with the task's last message, or a default text if it has none",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => task.reject("Not on Sundays"), HOME);
    for (const listening of [listenIn(), listenWithoutCards()]) {
      const { result } = await invoking(testServer.url, "Hello", { listening });
      expect(result).toEqual({ success: false, taskId: ID, error: "Not on Sundays" });
    }
    for (const line of SERVERS) {
      const failed = await invokingOfficial(line, "fail");
      expect(failed.result, line.protocol).toEqual({ success: false, taskId: ID, error: "no luck" });
    }
    const begun = Promise.withResolvers<string>();
    await using wordless = await serveScript((task) => {
      begun.resolve(task.id);
      return createGate().passed(task.signal);
    });
    const canceled = await invoking(wordless.url, "Hello", {
      async beforeLook() {
        resultOf(await post(wordless.url, rpcRequest(1, "tasks/cancel", { id: await begun.promise })), 1);
      },
    });
    expect(canceled.result).toEqual({ success: false, taskId: ID, error: "Task failed" });
  },
);
