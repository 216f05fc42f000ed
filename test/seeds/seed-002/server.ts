import { from, map } from "rxjs";
import { expect, it } from "vitest";
import { createGate } from "../../conformance/gate.ts";
import { at, openStream, post, streamed, textAt } from "../exchange.ts";
import { agentMessage, artifactUpdate, idsOf, statusUpdate, textPart, userMessage } from "../kinds.ts";
import { ID, TIME } from "../matchers.ts";
import { errorOf, resultOf, resultsOf, rpcRequest } from "../rpc.ts";
import { scripted, serveAgents, serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

const echo = () => serveScript(async (task) => task.text);

it(
  seed.example(
    "Complete Flow Diagram",
    "task, working, chunks, a question; then the answer's stream: working, the last chunk, completed",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => {
      const artifact = task.artifact("report");
      await artifact.write("one ");
      await artifact.write("two ");
      await artifact.end(await task.ask("And then?"));
    });
    const exchange = async (message: object) =>
      resultsOf(await streamed(testServer.url, rpcRequest(1, "message/stream", { message })), 1);
    const shape = (result: unknown): unknown => at(result, "status.state") ?? at(result, "artifact.parts.0.text");
    const asked = await exchange(userMessage("Count"));
    expect(asked.map(shape)).toEqual(["submitted", "working", "one ", "two ", "input-required"]);
    const answered = await exchange(userMessage("three", { taskId: idsOf(asked[0]).taskId }));
    expect(at(answered[0], "kind")).toBe("task");
    expect(answered.slice(1).map(shape)).toEqual(["working", "three", "completed"]);
  },
);

it(
  seed.example(
    "State Transitions",
    "`started` is sent as submitted; from there to working, to a question and back, and to a final state",
  ),
  async () => {
    await using testServer = await serveScript(
      async (task) => {
        if ((await task.ask("Shall it work?")) !== "yes") throw new Error("It shall not");
      },
      { capabilities: { stateTransitionHistory: true } },
    );
    const exchange = async (message: object) =>
      resultOf(await post(testServer.url, rpcRequest(1, "message/send", { message })), 1);
    for (const [answer, end] of Object.entries({ yes: "completed", no: "failed" })) {
      const asked = await exchange(userMessage("Begin"));
      const task = await exchange(userMessage(answer, { taskId: idsOf(asked).taskId }));
      const states = ["submitted", "working", "input-required", "working", end];
      expect(at(task, "metadata.stateTransitions")).toEqual(states.map((state) => ({ state, timestamp: TIME })));
    }
  },
);

it(
  seed.example(
    "Server-Side (TypeScript) › invalid request",
    "a request that is not JSON-RPC 2.0 gets -32600 with a reason, HTTP 200, and its id if it has one",
  ),
  async () => {
    await using testServer = await echo();
    const params = { message: userMessage("Hello") };
    const wrong = [
      { id: 1, method: "message/stream", params },
      { jsonrpc: "1.0", id: 1, method: "message/stream", params },
      { jsonrpc: "2.0", id: 1, params },
    ];
    for (const request of wrong) {
      const error = errorOf(await post(`${testServer.url}/api/a2a`, request), 1);
      expect(error).toMatchObject({ code: -32600, data: { reason: "INVALID_REQUEST" } });
    }
    const withoutId = { jsonrpc: "2.0", method: "message/stream", params };
    expect(errorOf(await post(`${testServer.url}/api/a2a`, withoutId), null)).toMatchObject({ code: -32600 });
  },
);

it(
  seed.example("Server-Side (TypeScript) › unknown method", "it gets -32601, and the data names the method"),
  async () => {
    await using testServer = await echo();
    const answer = await post(`${testServer.url}/api/a2a`, rpcRequest(1, "message/forget", {}));
    expect(errorOf(answer, 1)).toEqual({
      code: -32601,
      message: "Method not found",
      data: { reason: "METHOD_NOT_FOUND", method: "message/forget" },
    });
  },
);

it(
  seed.example(
    "Server-Side (TypeScript) › wrong message.kind",
    "another kind gets -32602 with the reason; a missing kind is read as message",
  ),
  async () => {
    await using testServer = await echo();
    const call = (message: object) => post(`${testServer.url}/api/a2a`, rpcRequest(1, "message/stream", { message }));
    expect(errorOf(await call(userMessage("Hello", { kind: "task" })), 1)).toEqual({
      code: -32602,
      message: "message.kind: must be message",
      data: { reason: "INVALID_PARAMS", violations: [{ field: "message.kind", description: "must be message" }] },
    });
    const { kind: _kind, ...kindless } = { kind: "", ...userMessage("Hello") };
    const frames = await streamed(`${testServer.url}/api/a2a`, rpcRequest(1, "message/stream", { message: kindless }));
    expect(at(frames.at(-1)?.json, "result.status.state")).toBe("completed");
  },
);

it(
  seed.example(
    "Server-Side (TypeScript) › a stream",
    "a submitted task, a status with a message, a whole artifact, completed",
  ),
  async () => {
    await using testServer = await serveScript(async (task) => {
      await task.status("Processing...");
      return "Result content here...";
    });
    const message = userMessage("Hello", { contextId: "ctx-of-the-client" });
    const results = resultsOf(
      await streamed(`${testServer.url}/api/a2a`, rpcRequest(1, "message/stream", { message })),
      1,
    );
    const ids = idsOf(results[0]);
    expect(ids.contextId).toBe("ctx-of-the-client");
    expect(at(results[0], "status.state")).toBe("submitted");
    expect(results.slice(1)).toEqual([
      statusUpdate(ids, "working"),
      statusUpdate(ids, "working", { message: agentMessage(ids, "Processing...") }),
      artifactUpdate(
        ids,
        { artifactId: ID, name: "result", parts: [textPart("Result content here...")] },
        { lastChunk: true },
      ),
      statusUpdate(ids, "completed", { final: true }),
    ]);
  },
);

it(
  seed.example(
    "Server-Side (TypeScript) › an agent that fails",
    "the last event says that the task failed, without exposing the exception",
  ),
  async () => {
    await using testServer = await serveAgents(
      scripted(() =>
        from(["a piece"]).pipe(
          map(() => {
            throw new Error("password=1234");
          }),
        ),
      ),
    );
    const frames = await streamed(
      `${testServer.url}/api/a2a`,
      rpcRequest(1, "message/stream", { message: userMessage("Fail") }),
    );
    const results = resultsOf(frames, 1);
    expect(results.at(-1)).toMatchObject({ kind: "status-update", status: { state: "failed" }, final: true });
    expect(frames.map(({ data }) => data).join()).not.toContain("1234");
  },
);

it(
  seed.example(
    "Server-Side (TypeScript) › client disconnect",
    "the task continues without a reader, and a new subscription sees how it ends",
  ),
  async () => {
    const [gate, hungUp] = [createGate(), createGate()];
    const agent = scripted(async (task) => {
      await gate.passed(task.signal);
      return "done";
    });
    await using testServer = await serveAgents(agent, {
      on: {
        call({ operation }) {
          if (operation === "stream") hungUp.open();
        },
      },
    });
    const message = userMessage("Take your time");
    const stream = await openStream(`${testServer.url}/api/a2a`, rpcRequest(1, "message/stream", { message }));
    const opening = await stream.next();
    await stream.close();
    await hungUp.passed(new AbortController().signal);
    const id = textAt(opening?.json, "result.id");
    const again = await openStream(`${testServer.url}/api/a2a`, rpcRequest(2, "tasks/resubscribe", { id }));
    gate.open();
    expect(at((await again.rest()).at(-1)?.json, "result.status.state")).toBe("completed");
  },
);

it(
  seed.example(
    "Integration with RxJS Agent › 5 Extension Points",
    "a custom handler sees each event, and a transformer changes the events that are sent and stored",
  ),
  async () => {
    const seen: unknown[] = [];
    const agent = scripted(async (task) => {
      await task.status("Working on it");
      await task.artifact("report").end("The password is 1234");
    });
    await using testServer = await serveAgents(agent, {
      on: { event: (event) => void seen.push(event.kind === "status" ? event.status.state : event.artifact.parts) },
      transform: (event) =>
        event.kind === "artifact" ? { ...event, artifact: { ...event.artifact, parts: [{ text: "***" }] } } : event,
    });
    const frames = await streamed(testServer.url, rpcRequest(1, "message/stream", { message: userMessage("Hello") }));
    const results = resultsOf(frames, 1);
    const pieces = results.filter((result) => at(result, "kind") === "artifact-update");
    expect(pieces.map((piece) => at(piece, "artifact.parts"))).toEqual([[textPart("***")]]);
    const kept = await post(testServer.url, rpcRequest(2, "tasks/get", { id: idsOf(results[0]).taskId }));
    expect(kept.text).not.toContain("1234");
    expect(seen.filter((one) => typeof one !== "string")).toEqual([[{ text: "***" }]]);
    expect(seen.at(-1)).toBe("completed");
  },
);
