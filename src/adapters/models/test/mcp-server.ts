import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

/** A real MCP server with a few tools. It counts the calls of each. */
export function createTools(calls: string[]): McpServer {
  const server = new McpServer({ name: "tools", version: "1" }, { capabilities: { tools: {} } });
  const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
  server.registerTool(
    "weather.now",
    {
      description: "The weather of a city.",
      inputSchema: z.object({ city: z.string() }),
      annotations: { readOnlyHint: true },
    },
    async ({ city }) => {
      calls.push(`weather ${city}`);
      return text(`It rains in ${city}.`);
    },
  );
  server.registerTool(
    "add",
    {
      description: "Adds two numbers.",
      inputSchema: z.object({ a: z.number(), b: z.number() }),
      outputSchema: z.object({ sum: z.number() }),
    },
    async ({ a, b }) => {
      calls.push("add");
      return { ...text("ignored"), structuredContent: { sum: a + b } };
    },
  );
  server.registerTool("picture", { description: "A picture." }, async () => ({
    content: [
      { type: "text", text: "Here" },
      { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
    ],
  }));
  server.registerTool("broken", { description: "Fails." }, async () => ({ ...text("no batteries"), isError: true }));
  server.registerTool("slow", { description: "Never ends." }, () => new Promise(() => {}));
  server.registerTool("crash", { description: "Ends the program." }, () => process.exit(3));
  return server;
}

/** The tools over HTTP; the header `authorization` of each request is recorded. */
export async function openMcpServer(): Promise<
  AsyncDisposable & { readonly url: string; readonly calls: string[]; readonly keys: unknown[] }
> {
  const calls: string[] = [];
  const keys: unknown[] = [];
  const handler = createMcpHandler(() => createTools(calls));
  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    keys.push(incoming.headers.authorization);
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const request = new Request(`http://127.0.0.1${incoming.url}`, {
      method: incoming.method ?? "GET",
      headers,
      ...(incoming.method === "POST" && { body: Buffer.concat(chunks) }),
    });
    const response = await handler.fetch(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.end(Buffer.from(await response.arrayBuffer()));
  };
  const server = createServer((incoming, outgoing) => void answer(incoming, outgoing));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // Safe cast: the server listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    calls,
    keys,
    async [Symbol.asyncDispose]() {
      await handler.close();
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
