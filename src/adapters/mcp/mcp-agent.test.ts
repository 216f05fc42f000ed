import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { mcpAgent } from "./mcp-agent.ts";
import { failureCode, openMcpAgent, resultParts, statusText } from "./test/open-mcp-agent.ts";
import { type OpenServer, openServer2025, openServer2026 } from "./test/open-servers.ts";
import { PICTURE, TOOLS } from "./test/records.ts";

const SERVERS: Readonly<Record<string, () => Promise<OpenServer>>> = { "2025": openServer2025, "2026": openServer2026 };

describe.each(Object.entries(SERVERS))("an agent of an MCP server of %s over HTTP", (revision, open) => {
  test("has a skill for each tool, with its schema, a name for people and tags", async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url, headers: { authorization: "Bearer k" } });
    const { agent } = opened;
    expect(agent).toMatchObject({
      id: "town-services",
      name: "Town Services",
      version: "2.1",
      description: "Services of a town.",
    });
    const tools = agent.skills?.filter(({ id }) => TOOLS.includes(id)) ?? [];
    expect(tools.map(({ id }) => id).toSorted()).toEqual(TOOLS);
    expect(tools.find(({ id }) => id === "github_list_prs")).toMatchObject({ name: "GitHub List PRs", tags: ["code"] });
    expect(tools.find(({ id }) => id === "add")).toMatchObject({
      tags: ["general", "read-only"],
      jsonSchema: { properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
    });
    expect(agent.startsPrograms).toBeUndefined();
    expect(new Set(server.keys)).toEqual(new Set(["Bearer k"]));
  });

  test("returns structured content once, text, files and links", async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url });
    const added = await opened.harness.send({ parts: [{ data: { a: 1, b: 2 } }] });
    expect([added.status.state, resultParts(added)]).toEqual(["completed", [{ data: { sum: 3 } }]]);
    expect(resultParts(await opened.call("picture"))).toEqual([
      { text: "Here" },
      { raw: PICTURE, mediaType: "image/png" },
      { url: "https://town.example/map.pdf", filename: "map.pdf", mediaType: "application/pdf" },
    ]);
    expect(resultParts(await opened.harness.send({ parts: [{ text: "go" }], metadata: { skillId: "pay" } }))).toEqual([
      { text: "Paid." },
    ]);
  });

  test("passes the trace on, and progress becomes the status", async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url });
    const trace = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", flags: 1 };
    await opened.harness.send({ parts: [{ data: { a: 1, b: 2 } }] }, { trace });
    expect(server.records.traces).toEqual([expect.stringContaining(trace.traceId)]);
    const reported = await opened.call("report");
    expect(await opened.harness.story(reported.id)).toContain("working:Half done");
  });

  test("fails with the words of the tool, and rejects arguments that do not fit", async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url });
    const broken = await opened.call("broken");
    expect([broken.status.state, statusText(broken), failureCode(broken)]).toEqual([
      ...["failed", "no batteries", "mcp-tool-failed"],
    ]);
    const wrong = await opened.call("add", { a: "x" });
    expect([wrong.status.state, statusText(wrong)]).toEqual(["rejected", expect.stringContaining("b: is required")]);
    const vague = await opened.harness.send("Hello");
    expect([vague.status.state, statusText(vague)]).toEqual(["rejected", expect.stringContaining('"book_table"')]);
  });

  test("passes a question on to the caller, and the answer back", async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url });
    const asked = await opened.call("book_table", { restaurant: "Krone" });
    expect([asked.status.state, statusText(asked)]).toEqual(["input-required", "For how many guests?"]);
    expect(JSON.stringify(asked.status.message?.parts)).toContain('"minimum":1');
    const again = await opened.harness.send({ taskId: asked.id, parts: [{ data: { guests: 0 } }] });
    expect(again.status.state).toBe("input-required");
    const booked = await opened.harness.send({ taskId: asked.id, parts: [{ text: "4" }] });
    expect(resultParts(booked)).toEqual([{ text: "Booked a table at Krone for 4." }]);
    const refused = await opened.call("book_table", { restaurant: "Krone" });
    expect(resultParts(await opened.harness.send({ taskId: refused.id, parts: [{ text: "decline" }] }))).toEqual([
      { text: "Nothing was booked." },
    ]);
    expect(server.records.calls).toEqual(["book_table"]);
  });

  test("passes a question by URL on as a request for an authorisation", async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url });
    const asked = await opened.call("login");
    expect([asked.status.state, statusText(asked)]).toEqual([
      "auth-required",
      expect.stringContaining("https://login.example/x"),
    ]);
    const done = await opened.harness.send({ taskId: asked.id, parts: [{ text: "done" }] });
    expect(resultParts(done)).toEqual([{ text: "Logged in." }]);
  });

  test("passes a cancel on", async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url });
    const { harness } = opened;
    const { taskId } = await harness.start({ parts: [{ data: {} }], metadata: { skillId: "wait" } });
    await harness.until(() => server.records.calls.includes("wait"), "the call");
    await harness.engine.cancel(harness.scope(), taskId);
    await harness.until(() => server.records.canceled.includes("wait"), "the cancel");
    expect((await harness.get(taskId)).status.state).toBe("canceled");
  });

  test("gets another card when the tools change", async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url });
    const before = opened.agent.cardRevision?.() ?? 0;
    server.addTool("news");
    await opened.harness.until(() => opened.agent.cardRevision?.() !== before, "the change");
    expect(opened.agent.skills?.map(({ id }) => id)).toContain("news");
    expect(resultParts(await opened.call("news"))).toEqual([{ text: "New." }]);
  });

  test("goes on after the MCP server was started again, and learns of its new tools", async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url });
    await opened.call("add", { a: 1, b: 2 });
    server.forget();
    server.addTool("news");
    expect(resultParts(await opened.call("add", { a: 2, b: 2 }))).toEqual([{ data: { sum: 4 } }]);
    await opened.harness.until(() => opened.agent.skills?.some(({ id }) => id === "news") === true, "the new tool");
  });

  test("does not repeat a call that was cut off by a crash, unless it is harmless", async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url });
    const { harness } = opened;
    const { taskId } = await harness.start({ parts: [{ data: {} }], metadata: { skillId: "wait" } });
    await harness.until(() => server.records.calls.includes("wait"), "the call");
    const after = await harness.crash();
    await after.until(async () => (await after.get(taskId)).status.state === "failed", "the end");
    expect(failureCode(await after.get(taskId))).toBe("mcp-call-cut-off");
    expect(server.records.calls).toEqual(["wait"]);
  });

  test(`${revision === "2026" ? "asks once" : "fails by name"} if the server is restarted during a question`, async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url });
    const asked = await opened.call("book_table", { restaurant: "Krone" });
    const after = await opened.harness.crash();
    const done = await after.send({ taskId: asked.id, parts: [{ data: { guests: 2 } }] });
    if (revision === "2026") expect(resultParts(done)).toEqual([{ text: "Booked a table at Krone for 2." }]);
    else expect(failureCode(done)).toBe("mcp-call-cut-off");
    expect(server.records.calls).toEqual(revision === "2026" ? ["book_table"] : []);
  });

  test("makes a repeatable call again after a restart, and answers the question with the stored answer", async () => {
    await using server = await open();
    await using opened = await openMcpAgent({ url: server.url, repeatable: () => true });
    const asked = await opened.call("book_table", { restaurant: "Krone" });
    const after = await opened.harness.crash();
    const done = await after.send({ taskId: asked.id, parts: [{ data: { guests: 2 } }] });
    expect(resultParts(done)).toEqual([{ text: "Booked a table at Krone for 2." }]);
    expect(server.records.calls).toEqual(["book_table"]);
  });
});

describe("an agent of an MCP server of 2026", () => {
  test("fails a task by name if its tool is gone after a restart", async () => {
    await using server = await openServer2026();
    await using opened = await openMcpAgent({ url: server.url });
    const asked = await opened.call("book_table", { restaurant: "Krone" });
    const agents = await mcpAgent({ url: server.url, except: ["book_table"] });
    try {
      const after = await opened.harness.crash({ agents });
      const gone = await after.send({ taskId: asked.id, parts: [{ data: { guests: 2 } }] });
      expect([gone.status.state, failureCode(gone)]).toEqual(["failed", "mcp-tool-gone"]);
    } finally {
      await agents.close?.();
    }
  });

  test("has skills for prompts and resources, which can be switched off", async () => {
    await using server = await openServer2026();
    await using opened = await openMcpAgent({ url: server.url });
    expect(resultParts(await opened.call("prompt.greeting", { name: "Ann" }))).toEqual([{ text: "Greet Ann." }]);
    expect(resultParts(await opened.call("read-resource", { uri: "town://rules.txt" }))).toEqual([
      { text: "Be kind.", mediaType: "text/plain", filename: "rules.txt", metadata: { uri: "town://rules.txt" } },
    ]);
    expect(failureCode(await opened.call("read-resource", { uri: "file:///etc/passwd" }))).toBe("mcp-call-refused");
    await using bare = await openMcpAgent({
      url: server.url,
      prompts: false,
      resources: false,
      only: ["add", "pay"],
      except: ["pay"],
    });
    expect(bare.agent.skills?.map(({ id }) => id)).toEqual(["add"]);
    expect(resultParts(await bare.harness.send('{"a":1,"b":1}'))).toEqual([{ data: { sum: 2 } }]);
  });
});

describe.each([
  ["2025", new URL("./test/program-2025.ts", import.meta.url)],
  ["2026", new URL("./test/program-2026.ts", import.meta.url)],
])("an agent of an MCP server of %s as a program", (_revision, program) => {
  test("is started, asked, started again after it died, and leaves nothing behind", async () => {
    const args = [fileURLToPath(program)];
    const opened = await openMcpAgent({ command: process.execPath, args });
    try {
      expect(opened.agent.startsPrograms).toBe(true);
      expect(resultParts(await opened.call("add", { a: 2, b: 3 }))).toEqual([{ data: { sum: 5 } }]);
      const asked = await opened.call("book_table", { restaurant: "Krone" });
      const booked = await opened.harness.send({ taskId: asked.id, parts: [{ data: { guests: 2 } }] });
      expect(resultParts(booked)).toEqual([{ text: "Booked a table at Krone for 2." }]);
      expect(failureCode(await opened.call("crash"))).toBe("mcp-connection-lost");
      expect(resultParts(await opened.call("add", { a: 2, b: 4 }))).toEqual([{ data: { sum: 6 } }]);
    } finally {
      await opened[Symbol.asyncDispose]();
    }
    const { markedProcesses } = await import("../process/children/process-table.ts");
    const own = (await markedProcesses()).filter(({ owner }) => owner.split("-")[1] === String(process.pid));
    expect(own).toEqual([]);
  });
});
