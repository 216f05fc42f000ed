import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { createMcpHandler } from "@modelcontextprotocol/server";
import { newRecords, type Records } from "./records.ts";
import { createServer2025 } from "./server-2025.ts";
import { createServer2026 } from "./server-2026.ts";

/** A test server over HTTP. */
export interface OpenServer extends AsyncDisposable {
  readonly url: string;
  readonly records: Records;
  /** Adds a tool and notifies the clients. */
  addTool(name: string): void;
  /** As after a restart: sessions are unknown, and streams are cut. */
  forget(): void;
  /** The header `authorization` of the requests. */
  readonly keys: unknown[];
}

export async function openServer2026(): Promise<OpenServer> {
  const records = newRecords();
  let more: string | undefined;
  const handler = createMcpHandler(() => createServer2026(records, more), { legacy: "reject" });
  const opened = await listen(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const gone = new AbortController();
    outgoing.on("close", () => gone.abort());
    const headers = Object.entries(incoming.headers).map(([name, value]): [string, string] => [name, String(value)]);
    const request = new Request(`http://127.0.0.1${incoming.url}`, {
      method: incoming.method ?? "GET",
      headers,
      signal: gone.signal,
      ...(incoming.method === "POST" && { body: Buffer.concat(chunks) }),
    });
    const response = await handler.fetch(request);
    outgoing.writeHead(response.status, Object.fromEntries(response.headers));
    outgoing.flushHeaders();
    if (response.body === null) outgoing.end();
    else await pipeline(Readable.fromWeb(response.body), outgoing).catch(() => {});
  });
  return {
    ...opened,
    records,
    addTool(name) {
      more = name;
      handler.notify.toolsChanged();
    },
    forget: () => opened.server.closeAllConnections(),
    async [Symbol.asyncDispose]() {
      await handler.close();
      await opened[Symbol.asyncDispose]();
    },
  };
}

/** One MCP session per client, as servers of that time have it. */
export async function openServer2025(): Promise<OpenServer> {
  const records = newRecords();
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const servers = new Set<ReturnType<typeof createServer2025>>();
  const more: string[] = [];
  const opened = await listen(async (incoming, outgoing) => {
    const known = sessions.get(String(incoming.headers["mcp-session-id"]));
    if (known !== undefined) return known.handleRequest(incoming, outgoing);
    if (incoming.headers["mcp-session-id"] !== undefined) return void outgoing.writeHead(404).end();
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    });
    const server = createServer2025(records);
    for (const name of more) addNew(server, name);
    servers.add(server);
    await server.connect(transport);
    await transport.handleRequest(incoming, outgoing);
  });
  return {
    ...opened,
    records,
    addTool(name) {
      more.push(name);
      for (const server of servers) addNew(server, name);
    },
    forget() {
      sessions.clear();
      opened.server.closeAllConnections();
    },
    async [Symbol.asyncDispose]() {
      for (const server of servers) await server.close();
      await opened[Symbol.asyncDispose]();
    },
  };
}

function addNew(server: ReturnType<typeof createServer2025>, name: string): void {
  server.registerTool(name, { description: "New." }, async () => ({ content: [{ type: "text", text: "New." }] }));
}

type Handle = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Listens on a free port. */
export async function listen(
  handle: Handle,
): Promise<AsyncDisposable & { readonly url: string; readonly keys: unknown[]; readonly server: Server }> {
  const keys: unknown[] = [];
  const server = createServer((incoming, outgoing) => {
    keys.push(incoming.headers.authorization);
    handle(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // Safe cast: the server listens on a port.
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    keys,
    server,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}
