import type { TaskContext } from "palaver";
import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { at, post, streamed } from "../exchange.ts";
import { artifactUpdate, idsOf, statusUpdate, textPart } from "../kinds.ts";
import { ID, TIME } from "../matchers.ts";
import { errorOf, resultOf, resultsOf, rpcRequest } from "../rpc.ts";
import { serveScript } from "../test-server.ts";
import { EITHER_WAY, seed } from "./seed.ts";

/** A message as in the examples: without `kind`. */
function message(text: string, more: object = {}): object {
  return { role: "user", parts: [textPart(text)], messageId: "9229e770-767c-417b-a0b0-f0741243c589", ...more };
}

const JOKE = "Why did the chicken cross the road? To get to the other side!";
const ASKED = message("tell me a joke");
const ask = rpcRequest(1, "message/send", { message: ASKED, metadata: {} });

it(
  seed.example(
    "9.2. Basic Execution › with a task",
    "returns the finished task: its artifact, its message, and a timestamp that the example omits",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(async (task) => task.artifact("joke").end(JOKE), {}, options);
      const task = resultOf(await post(testServer.url, ask), 1);
      const ids = idsOf(task);
      expect(task).toEqual({
        kind: "task",
        id: ids.taskId,
        contextId: ids.contextId,
        status: { state: "completed", timestamp: TIME },
        artifacts: [{ artifactId: ID, name: "joke", parts: [textPart(JOKE)] }],
        history: [{ kind: "message", ...ASKED, ...ids }],
      });
    }
  },
);

it(
  seed.example(
    "9.2. Basic Execution › without a task",
    "returns a message of the agent, with the role that the example omits",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      await using testServer = await serveScript(async () => "never", { reply: () => JOKE }, options);
      expect(resultOf(await post(testServer.url, ask), 1)).toEqual({
        kind: "message",
        role: "agent",
        messageId: ID,
        contextId: ID,
        parts: [textPart(JOKE)],
      });
    }
  },
);

it(
  seed.example(
    "9.2. Basic Execution › polling",
    "a longer task is working in the first response, and polled until it ends",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      const gate = createGate();
      await using testServer = await serveScript(async (task) => gate.passed(task.signal), {}, options);
      const params = { message: ASKED, configuration: { blocking: false } };
      const task = resultOf(await post(testServer.url, rpcRequest(1, "message/send", params)), 1);
      const { taskId: id } = idsOf(task);
      const seen = new Set([at(task, "status.state")]);
      gate.open();
      while (!seen.has("completed")) {
        seen.add(at(resultOf(await post(testServer.url, rpcRequest(2, "tasks/get", { id })), 2), "status.state"));
      }
      expect(["submitted", "working"]).toContain([...seen][0]);
    }
  },
);

const PNG = "iVBORw0KGgo=";
const PAPER = "write a long paper describing the attached pictures";
const PICTURES = message(PAPER, {
  parts: [textPart(PAPER), { kind: "file", file: { mimeType: "image/png", data: PNG } }],
  messageId: "bbb7dee1-cf5c-4683-8a6f-4114529da5eb",
});

it(
  seed.example(
    "9.3. Streaming Task Execution (SSE) › 1 request",
    "without `jsonrpc` and `id` it is not a request; with them, the picture is read from `data` or `bytes`",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      const pictures: (string | undefined)[] = [];
      const script = async ({ files }: Pick<TaskContext, "files">) => {
        for (const { bytes } of files)
          pictures.push(bytes === undefined ? undefined : Buffer.from(bytes).toString("base64"));
      };
      await using testServer = await serveScript(script, {}, options);
      const params = { message: PICTURES, metadata: {} };
      const bare = await post(testServer.url, { method: "message/stream", params });
      expect(errorOf(bare, null)).toMatchObject({ code: -32600 });
      expect(pictures).toEqual([]);
      await streamed(testServer.url, rpcRequest(1, "message/stream", params));
      expect(pictures).toEqual([PNG]);
    }
  },
);

it(
  seed.example(
    "9.3. Streaming Task Execution (SSE) › 2 events",
    "task, working, three chunks of one artifact, completed; parts have `kind`, timestamps have a time zone",
  ),
  async () => {
    for (const options of EITHER_WAY) {
      const sections = ["<section 1...>", "<section 2...>", "<section 3...>"] as const;
      await using testServer = await serveScript(
        async (task) => {
          const paper = task.artifact("paper");
          await paper.write(sections[0]);
          await paper.write(sections[1]);
          await paper.end(sections[2]);
        },
        {},
        options,
      );
      const results = resultsOf(
        await streamed(testServer.url, rpcRequest(1, "message/stream", { message: PICTURES })),
        1,
      );
      const ids = idsOf(results[0]);
      const artifactId = at(results[2], "artifact.artifactId");
      const picture = { kind: "file", file: { mimeType: "image/png", bytes: PNG } };
      expect(results).toEqual([
        {
          kind: "task",
          id: ids.taskId,
          contextId: ids.contextId,
          status: { state: "submitted", timestamp: TIME },
          history: [{ kind: "message", ...PICTURES, parts: [textPart(PAPER), picture], ...ids }],
        },
        statusUpdate(ids, "working"),
        artifactUpdate(ids, { artifactId, name: "paper", parts: [textPart(sections[0])] }),
        artifactUpdate(ids, { artifactId, parts: [textPart(sections[1])] }, { append: true }),
        artifactUpdate(ids, { artifactId, parts: [textPart(sections[2])] }, { append: true, lastChunk: true }),
        statusUpdate(ids, "completed", { final: true }),
      ]);
    }
  },
);
