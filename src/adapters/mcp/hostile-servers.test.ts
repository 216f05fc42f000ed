import { describe, expect, test } from "vitest";
import { mcpAgent } from "./mcp-agent.ts";
import type { McpAgentOptions } from "./mcp-agent-options.ts";
import { McpServerError } from "./mcp-failure.ts";
import { failureCode, type OpenMcpAgent, openMcpAgent, resultParts } from "./test/open-mcp-agent.ts";
import { openRawServer, type RawAnswer, type RawCall } from "./test/raw-server.ts";

/** Bytes of this process's memory may grow by this much while a server sends 100 MB. */
const MEMORY = 80 * 2 ** 20;
const HUNDRED = 100;

async function against(
  answer: RawAnswer,
  work: (opened: OpenMcpAgent) => Promise<void>,
  options: Partial<McpAgentOptions> = {},
) {
  await using server = await openRawServer(answer);
  await using opened = await openMcpAgent({ url: server.url, ...options } as McpAgentOptions);
  await work(opened);
}

const onCall =
  (answer: (call: RawCall) => void | Promise<void>): RawAnswer =>
  async (call) => {
    if (call.method !== "tools/call") return false;
    await answer(call);
    return true;
  };

const tool = (name: string, more: object = {}): object => ({
  name,
  description: "x",
  inputSchema: { type: "object" },
  ...more,
});

const listing =
  (tools: readonly object[]): RawAnswer =>
  ({ method, reply }) => {
    if (method === "tools/list") reply({ tools });
    return method === "tools/list";
  };

async function problemOf(answer: RawAnswer, options: Partial<McpAgentOptions> = {}): Promise<McpServerError> {
  await using server = await openRawServer(answer);
  const failed = await mcpAgent({ url: server.url, ...options } as McpAgentOptions).catch((error: unknown) => error);
  expect(failed).toBeInstanceOf(McpServerError);
  return failed as McpServerError;
}

async function withinMemory(work: () => Promise<void>): Promise<void> {
  const before = process.memoryUsage().rss;
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage().rss);
  }, 10);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  expect(most - before).toBeLessThan(MEMORY);
}

/** Writes 100 MB as one message, as long as the reader reads. */
async function flood({ outgoing }: RawCall, [type, start]: readonly [string, string]): Promise<void> {
  outgoing.writeHead(200, { "content-type": type });
  outgoing.write(start);
  const piece = Buffer.alloc(2 ** 20, "x");
  for (let count = 0; count < HUNDRED && !outgoing.destroyed; count += 1) {
    if (!outgoing.write(piece))
      await new Promise<void>((resolve) => {
        outgoing.once("drain", resolve);
        outgoing.once("close", resolve);
      });
  }
  outgoing.end();
}

describe("an MCP server that sends too much", () => {
  test.each([
    ["application/json", '{"jsonrpc":"2.0","id":1,"result":"'],
    ["text/event-stream", 'event: message\ndata: {"jsonrpc":"2.0","id":1,"result":"'],
  ])("(100 MB of %s) fails the task by name, with bounded memory, and the next call works", async (type, start) => {
    let count = 0;
    await against(
      onCall(async (call) => {
        count += 1;
        if (count === 1) await flood(call, [type, start]);
        else call.reply({ content: [] });
      }),
      async (opened) => {
        await withinMemory(async () => expect(failureCode(await opened.call("go"))).toBe("mcp-message-too-large"));
        expect((await opened.call("go")).status.state).toBe("completed");
      },
      { maxMessage: 2 ** 20 },
    );
  });

  test("as a program (100 MB in one line) is ended", async () => {
    const script = `
      const tools = [{ name: "go", inputSchema: { type: "object" } }];
      require("node:readline").createInterface({ input: process.stdin }).on("line", (line) => {
        const { id, method } = JSON.parse(line);
        const send = (body) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, ...body }) + "\\n");
        if (id === undefined) return;
        if (method === "initialize") send({ result: { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "p", version: "1" } } });
        else if (method === "tools/list") send({ result: { tools } });
        else if (method === "tools/call") { let n = ${HUNDRED}; (function more() { if (n-- > 0) process.stdout.write("x".repeat(2 ** 20), more); })(); }
        else send({ error: { code: -32601, message: "no" } });
      });`;
    await using opened = await openMcpAgent({ command: process.execPath, args: ["-e", script], maxMessage: 2 ** 20 });
    await withinMemory(async () => expect(failureCode(await opened.call("go"))).toBe("mcp-message-too-large"));
  });

  test("of tools, pages, progress or questions is limited", async () => {
    const many = Array.from({ length: 300 }, (_, index) => tool(`t${index}`));
    await against(listing(many), async ({ agent }) => expect(agent.skills).toHaveLength(256));
    let page = 0;
    const endless: RawAnswer = ({ method, reply }) => {
      if (method !== "tools/list") return false;
      page += 1;
      reply({ tools: [tool(`t${page}`)], nextCursor: String(page) });
      return true;
    };
    expect((await problemOf(endless)).code).toBe("mcp-unavailable");
    expect(page).toBeLessThan(100);
    await against(
      onCall(({ params, outgoing, id }) => {
        outgoing.writeHead(200, { "content-type": "text/event-stream" });
        const { progressToken } = params["_meta"] as { readonly progressToken: number };
        for (let progress = 1; progress <= 5000; progress += 1) {
          const note = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress } };
          outgoing.write(`data: ${JSON.stringify(note)}\n\n`);
        }
        outgoing.end(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: { content: [] } })}\n\n`);
      }),
      async (opened) => {
        const task = await opened.call("go");
        expect(task.status.state).toBe("completed");
        expect((await opened.harness.story(task.id)).length).toBeLessThan(1100);
      },
    );
  });
});

describe("an MCP server that hangs", () => {
  test("fails the task by name, and the next call gets another connection", async () => {
    let count = 0;
    await against(
      onCall(({ reply }) => {
        count += 1;
        if (count > 1) reply({ content: [] });
      }),
      async (opened) => {
        expect(failureCode(await opened.call("go"))).toBe("mcp-timeout");
        expect((await opened.call("go")).status.state).toBe("completed");
      },
      { callTimeout: 100 },
    );
  });

  test("when it is connected or lists its tools is reported as not available", async () => {
    const problem = await problemOf(({ method }) => method === "tools/list", { connectTimeout: 100 });
    expect([problem.code, problem.message]).toEqual(["mcp-unavailable", expect.stringContaining("cannot be used")]);
    expect((await problemOf(() => true, { connectTimeout: 100 })).code).toBe("mcp-unavailable");
  });
});

describe("an MCP server that lies", () => {
  test.each([
    ["content that does not match its schema", { content: [], structuredContent: { sum: "x" } }, "mcp-result-invalid"],
    ["no content despite its schema", { content: [] }, "mcp-result-invalid"],
    ["a result that is not one", { content: 5 }, "mcp-result-invalid"],
  ])("with %s fails the task", async (_what, result, code) => {
    const outputSchema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] };
    const answer: RawAnswer = async (call) =>
      (await listing([tool("go", { outputSchema })])(call)) || onCall(({ reply }) => reply(result))(call);
    await against(answer, async (opened) => expect(failureCode(await opened.call("go"))).toBe(code));
  });

  test("with something that is not JSON, or with a cut connection, fails the task", async () => {
    let count = 0;
    await against(
      onCall(({ outgoing }) => {
        count += 1;
        const isStream = count > 2;
        outgoing.writeHead(200, { "content-type": isStream ? "text/event-stream" : "application/json" });
        outgoing.write(isStream ? ": hello\n\n" : "<html>");
        if (count % 2 === 1) outgoing.end();
        else setTimeout(() => outgoing.destroy(), 50);
      }),
      async (opened) => {
        for (const _ of [1, 2, 3, 4]) {
          const task = await opened.call("go");
          expect(task.status.state).toBe("failed");
          expect(failureCode(task)).toMatch(/^mcp-(connection-lost|result-invalid)$/);
        }
      },
    );
  });

  test("about its tools: two of the same name are refused, unusable names are left out", async () => {
    const problem = await problemOf(listing([tool("pay"), tool("pay")]));
    expect([problem.code, problem.message]).toEqual([
      "mcp-names-collide",
      'The MCP server has two tools with the name "pay".',
    ]);
    const odd = ["__proto__", "constructor", "two words", "a\u001b[31m", "x".repeat(200), "é"].map((name) =>
      tool(name),
    );
    await against(listing(odd), async (opened) => {
      expect(opened.agent.skills?.map(({ id }) => id)).toEqual(["__proto__", "constructor", "é"]);
      expect(resultParts(await opened.call("constructor"))).toEqual([{ text: "Went." }]);
    });
  });

  test("about a description or a title: control characters are removed, long texts are cut", async () => {
    const nasty = tool("go", { title: "Go\u001b[2J\u202e now\n", description: `\u0007${"x".repeat(10_000)}` });
    await against(listing([nasty]), async ({ agent }) => {
      expect(agent.skills?.[0]).toMatchObject({ name: "Go[2J now", description: "x".repeat(4000) });
    });
  });

  test("with a schema whose regular expression would run for years is called without running it", async () => {
    const properties = { text: { type: "string", pattern: "^(a+)+$" } };
    await against(listing([tool("go", { inputSchema: { type: "object", properties } })]), async (opened) => {
      expect((await opened.call("go", { text: `${"a".repeat(50)}!` })).status.state).toBe("completed");
    });
  });
});

describe("an MCP server that redirects", () => {
  test("to another origin is not followed, and gets no credentials there", async () => {
    const seen: string[] = [];
    await using other = await openRawServer(() => {
      seen.push("called");
      return false;
    });
    const problem = await problemOf(
      ({ outgoing }) => {
        outgoing.writeHead(307, { location: other.url }).end();
        return true;
      },
      { headers: { authorization: "Bearer secret" } },
    );
    expect([problem.code, seen]).toEqual(["mcp-unavailable", []]);
  });
});
