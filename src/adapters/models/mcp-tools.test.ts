import { copyFileSync } from "node:fs";
import { fileURLToPath, pathToFileURL } from "node:url";
import { afterEach, describe, expect, test } from "vitest";
import { temporaryFolder } from "../../testing/temporary-folder.ts";
import type { requireMcpClient } from "../mcp/mcp-client-package.ts";
import { mcpTools } from "./mcp-tools.ts";
import { openMcpServer } from "./test/mcp-server.ts";
import { mockModel, partsOf, serveModel, textPart } from "./test/serve-model.ts";
import type { ToolProvider } from "./tool.ts";

const PROGRAM = fileURLToPath(new URL("./test/mcp-program.ts", import.meta.url));
const providers: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const provider of providers.splice(0)) await provider.close();
});

function closedLater<P extends { close(): Promise<void> }>(provider: P): P {
  providers.push(provider);
  return provider;
}

/** Lets the model call one tool, and returns what the model was offered and what it got. */
async function use(tools: ToolProvider, name: string, input: object = {}) {
  let offered: readonly string[] = [];
  let schema: object | undefined;
  const model = mockModel(({ prompt, tools: known = [] }, count) => {
    offered = known.map((tool) => tool.name).toSorted();
    schema = known.find((tool) => tool.name === name)?.inputSchema;
    if (count === 1) return [{ type: "tool-call", toolCallId: "c", toolName: name, input: JSON.stringify(input) }];
    return [textPart(JSON.stringify(prompt.at(-1)?.content))];
  });
  await using harness = await serveModel({ model, tools });
  const task = await harness.send("go");
  const [part] = partsOf(task, "result") ?? [];
  const text = part !== undefined && "text" in part ? String(part.text) : "[]";
  // Safe cast: the mock model wrote it.
  const [content] = JSON.parse(text) as readonly { readonly output: unknown }[];
  return { offered, schema, output: content?.output, task };
}

const ALL = ["add", "broken", "crash", "picture", "slow", "weather_now"];

describe("tools of an MCP server over HTTP", () => {
  test("are offered with their schemas, and called; the result is the text or the structured content", async () => {
    await using server = await openMcpServer();
    const tools = closedLater(mcpTools({ url: server.url, headers: { authorization: "Bearer k" } }));
    const weather = await use(tools, "weather_now", { city: "Ulm" });
    expect(weather.offered).toEqual(ALL);
    expect(weather.schema).toMatchObject({ type: "object", properties: { city: { type: "string" } } });
    expect(weather.output).toEqual({ type: "json", value: "It rains in Ulm." });
    expect((await use(tools, "add", { a: 1, b: 2 })).output).toEqual({ type: "json", value: { sum: 3 } });
    expect((await use(tools, "picture")).output).toEqual({
      type: "json",
      value: ["Here", { type: "image", mimeType: "image/png" }],
    });
    expect(server.calls).toEqual(["weather Ulm", "add"]);
    expect(new Set(server.keys)).toEqual(new Set(["Bearer k"]));
  });

  test("that fail, get a wrong input or take too long are outcomes for the model", async () => {
    await using server = await openMcpServer();
    const tools = closedLater(mcpTools({ url: server.url }));
    expect((await use(tools, "broken")).output).toEqual({ type: "error-text", value: "no batteries" });
    expect((await use(tools, "add", { a: "x" })).output).toMatchObject({ type: "error-text" });
    const impatient = closedLater(mcpTools({ url: server.url, timeout: 200 }));
    expect((await use(impatient, "slow")).output).toMatchObject({
      type: "error-text",
      value: expect.stringMatching(/did not finish within 200 ms|timed out/i),
    });
    expect(server.calls).toEqual([]);
  });

  test("can be filtered, named with a prefix, and allowed by caller", async () => {
    await using server = await openMcpServer();
    const seen: string[] = [];
    const permit = (name: string, { caller }: { readonly caller: { readonly id?: string } }): boolean => {
      seen.push(`${name} ${caller.id ?? "anonymous"}`);
      return name !== "add";
    };
    const tools = closedLater(
      mcpTools({ url: server.url, prefix: "town_", except: ["crash"], only: ["add", "weather_now", "crash"], permit }),
    );
    const { offered, output } = await use(tools, "town_add");
    expect(offered).toEqual(["town_weather_now"]);
    expect(output).toMatchObject({ value: expect.stringContaining("There is no tool") });
    expect(seen.map((line) => line.split(" ")[0])).toEqual(["weather_now", "add"]);
  });

  test("need approval if the agent says so, and only harmless ones may be repeated", async () => {
    await using server = await openMcpServer();
    const tools = closedLater(mcpTools({ url: server.url, approve: (name) => name === "add" }));
    const { task } = await use(tools, "add", { a: 1, b: 1 });
    expect(task.status.state).toBe("input-required");
    // Safe cast: these tools do not look at the task.
    const listed = await tools({ signal: new AbortController().signal } as never);
    expect(Object.entries(listed).flatMap(([name, tool]) => (tool.repeatable === true ? name : []))).toEqual([
      "weather_now",
    ]);
  });

  test("if the server cannot be reached, the task fails with a name, and the next task tries again", async () => {
    const server = await openMcpServer();
    const tools = closedLater(mcpTools({ url: server.url, connectTimeout: 1000 }));
    await server[Symbol.asyncDispose]();
    const { task } = await use(tools, "add");
    expect(task.status).toMatchObject({
      state: "failed",
      message: { parts: [{ text: "The tools of this agent are not available now." }] },
    });
  });
});

describe("tools of an MCP server over stdio", () => {
  test("are called in a program, which is started again after it died and ends with `close`", async () => {
    const tools = closedLater(mcpTools({ command: process.execPath, args: [PROGRAM] }));
    expect((await use(tools, "weather_now", { city: "Ulm" })).output).toEqual({
      type: "json",
      value: "It rains in Ulm.",
    });
    expect((await use(tools, "crash")).output).toMatchObject({ type: "error-text" });
    expect((await use(tools, "add", { a: 2, b: 3 })).output).toEqual({ type: "json", value: { sum: 5 } });
    await tools.close();
    await tools.close();
    expect((await use(tools, "add", { a: 2, b: 3 })).task.status.state).toBe("failed");
  });
});

test("a missing package is named with the command to install it", async () => {
  // A copy of the file in a folder without packages.
  await using folder = await temporaryFolder();
  const copy = folder.file("mcp-client-package.ts");
  copyFileSync(fileURLToPath(new URL("../mcp/mcp-client-package.ts", import.meta.url)), copy);
  const lonely: { requireMcpClient: typeof requireMcpClient } = await import(pathToFileURL(copy).href);
  expect(() => lonely.requireMcpClient("Tools")).toThrow("Run `npm install @modelcontextprotocol/client`");
});
