import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe } from "vitest";
import { type Agent, type AgentDefinition, agent } from "../../engine/agent/agent.ts";
import { ScriptedEngine } from "../../server/test/scripted-engine.ts";
import { createHttpHandler, type HttpHandler, type HttpHandlerOptions } from "../http-handler.ts";

/** A server under test, called through `fetch` or through a socket. */
export interface Site {
  readonly engine: ScriptedEngine;
  readonly handler: HttpHandler;
  readonly url: string;
  request(path: string, init?: RequestInit): Promise<Response>;
  /** Posts a JSON-RPC call, by default of version 1.0, and returns the JSON of the answer. */
  call(method: string, params?: unknown, headers?: Record<string, string>): Promise<RpcAnswer>;
  /** Posts a JSON-RPC call and returns the raw response. */
  post(method: string, params?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Sends a REST request such as `GET /tasks`, its body as `application/json` unless the headers say otherwise. */
  rest(line: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  /** Sends a REST request and returns the JSON of the answer. */
  ask(line: string, body?: unknown, headers?: Record<string, string>): Promise<Loose>;
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests read answers member by member, and a missing one fails the test
export type Loose = any;

export interface RpcAnswer {
  readonly jsonrpc: string;
  readonly id: unknown;
  readonly result?: Loose;
  readonly error?: { readonly code: number; readonly message: string; readonly data: readonly Loose[] };
}

export type SiteOptions = Partial<HttpHandlerOptions> & { readonly definition?: Partial<AgentDefinition> };
export type Open = (options?: SiteOptions) => Promise<Site>;

export function testAgent(definition: Partial<AgentDefinition> = {}): Agent {
  return agent({ name: "Echo", description: "Says it again.", version: "1.2.3", run: async () => {}, ...definition });
}

/** Runs the same cases through `fetch` and through a socket. */
export function describeFaces(name: string, cases: (open: Open, face: "fetch" | "node") => void): void {
  describe.each(["fetch", "node"] as const)(`${name} (%s)`, (face) => {
    const closing: Array<() => Promise<void>> = [];
    afterEach(async () => {
      for (const close of closing.splice(0)) await close();
    });
    cases(async (options) => {
      const { site, close } = await openSite(face, options);
      closing.push(close);
      return site;
    }, face);
  });
}

async function openSite(
  face: "fetch" | "node",
  options: SiteOptions = {},
): Promise<{ site: Site; close: () => Promise<void> }> {
  const { definition, ...rest } = options;
  const engine = new ScriptedEngine();
  const publicUrl = "http://agents.example";
  const handler = createHttpHandler({ agents: [testAgent(definition)], engine, publicUrl, ...rest });
  if (face === "fetch") {
    const url = "http://127.0.0.1";
    const site = siteOf({ engine, handler, url, fetch: (request) => handler.fetch(request) });
    return { site, close: async () => handler.closeStreams() };
  }
  const server = createServer(handler.nodeHandler);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async (): Promise<void> => {
    handler.closeStreams();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { site: siteOf({ engine, handler, url, fetch: (request) => fetch(request) }), close };
}

function siteOf(parts: {
  readonly engine: ScriptedEngine;
  readonly handler: HttpHandler;
  readonly url: string;
  readonly fetch: (request: Request) => Promise<Response>;
}): Site {
  const { engine, handler, url } = parts;
  const request: Site["request"] = (path, init) => parts.fetch(new Request(url + path, init));
  const post: Site["post"] = (method, params, headers) =>
    request("/", {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
  const rest: Site["rest"] = (line, body, headers) => {
    const [method = "", path = ""] = line.split(" ");
    if (body === undefined) return request(path, { method, ...(headers !== undefined && { headers }) });
    const type = { "content-type": "application/json" };
    return request(path, { method, headers: { ...type, ...headers }, body: JSON.stringify(body) });
  };
  return {
    engine,
    handler,
    url,
    request,
    post,
    rest,
    ask: async (line, body, headers) => (await rest(line, body, headers)).json(),
    call: async (method, params, headers) => (await (await post(method, params, headers)).json()) as RpcAnswer,
  };
}

/** The parameters of a send. */
export function textMessage(text: string, members: object = {}): object {
  return { message: { messageId: "m-1", role: "ROLE_USER", parts: [{ text }], ...members } };
}

export interface SseFrame {
  readonly id?: string;
  readonly event?: string;
  readonly retry?: string;
  readonly comment?: string;
  readonly data?: Loose;
}

/** Reads a response's frames one by one. */
export async function* framesOf(response: Response): AsyncGenerator<SseFrame, void> {
  const body: ReadableStream<Uint8Array> | null = response.body;
  if (body === null) return;
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  try {
    for (;;) {
      const end = text.indexOf("\n\n");
      if (end !== -1) {
        yield frameOf(text.slice(0, end));
        text = text.slice(end + 2);
        continue;
      }
      const { done, value } = await reader.read();
      if (done) return;
      text += decoder.decode(value, { stream: true });
    }
  } finally {
    await reader.cancel();
  }
}

function frameOf(text: string): SseFrame {
  const frame: Record<string, unknown> = {};
  for (const line of text.split("\n")) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon) || "comment";
    const value = line.slice(colon + 1).trimStart();
    frame[name] = name === "data" ? JSON.parse(value) : value;
  }
  return frame;
}

export async function allFrames(response: Response): Promise<SseFrame[]> {
  return collect(framesOf(response));
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}
