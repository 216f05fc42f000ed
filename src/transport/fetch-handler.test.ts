import { describe, expect, it } from "vitest";
import { SILENT_LOGGER } from "../internal/logger.ts";
import { processorTime } from "../internal/test/processor-time.ts";
import { ScriptedEngine } from "../server/test/scripted-engine.ts";
import { createHttpHandler } from "./http-handler.ts";
import { testAgent, textMessage } from "./test/faces.ts";

function open() {
  const engine = new ScriptedEngine();
  const logged: object[] = [];
  const { fetch } = createHttpHandler({
    agents: [testAgent()],
    engine,
    publicUrl: "http://agents.example",
    logger: { ...SILENT_LOGGER, error: (message, details) => void logged.push({ message, ...details }) },
  });
  return { engine, fetch, logged };
}

function send(): Request {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: textMessage("hello") });
  const headers = { "content-type": "application/json", "a2a-version": "1.0" };
  return new Request("http://agents.example/", { method: "POST", headers, body });
}

describe("A web-standard request", () => {
  it.each([
    ["has been read", (request: Request) => request.text()],
    ["is being read", (request: Request) => request.body?.getReader()],
  ])("whose body %s by the host fails, and the log says how to fix it", async (_, read) => {
    const { engine, fetch, logged } = open();
    const request = send();
    await read(request);
    const response = await fetch(request);
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32603, message: "Internal error" } });
    expect(logged).toEqual([
      expect.objectContaining({
        message: "A call failed",
        error: expect.objectContaining({ message: expect.stringMatching(/already read: pass the request unread/) }),
      }),
    ]);
    expect(engine.submissions).toHaveLength(0);
  });

  it("may be a clone of a request that was read", async () => {
    const { fetch, logged } = open();
    const request = send();
    const clone = request.clone();
    await request.text();
    expect(await (await fetch(clone)).json()).toMatchObject({ result: { task: {} } });
    expect(logged).toEqual([]);
  });

  it.each(["/tasks?", "/?"])("with very many parameters is refused with 400 before they are read: %s", async (path) => {
    const { fetch } = open();
    const withParameters = (count: number): Request => new Request(`http://agents.example${path}${"a&".repeat(count)}`);
    const response = await fetch(withParameters(100_000));
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("The query must have at most 1000 parameters");
    expect((await fetch(new Request(`http://agents.example/tasks?a=${"b".repeat(100_000)}&c=d`))).status).toBe(200);
    const query = "a&".repeat(100_000);
    const reading = processorTime(() => new URLSearchParams(query), 3);
    const request = withParameters(100_000);
    expect(processorTime(() => void fetch(request), 3)).toBeLessThan(reading / 2);
  });

  it("needs no body for operations without one", async () => {
    const { fetch } = open();
    expect((await fetch(new Request("http://agents.example/tasks"))).status).toBe(200);
  });
});
