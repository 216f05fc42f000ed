import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { AgentCard } from "../../src/protocol/card.ts";

/** A received request with its body. */
export interface ReceivedRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: { readonly id?: number; readonly method?: string; readonly params?: Record<string, unknown> };
}

export type Answer = (response: ServerResponse, request: ReceivedRequest, count: number) => void | Promise<void>;

/** A server that answers every request with the handler of the test. */
export class ScriptedServer {
  /** All requests so far, in order of arrival. */
  readonly received: ReceivedRequest[] = [];
  readonly #server = createServer((incoming, response) => {
    void this.#handle(incoming, response);
  });
  #answer: Answer;
  #url = "";

  private constructor(answer: Answer) {
    this.#answer = answer;
  }

  static async start(answer: Answer): Promise<ScriptedServer> {
    const server = new ScriptedServer(answer);
    server.#server.listen(0, "127.0.0.1");
    await once(server.#server, "listening");
    server.#url = `http://127.0.0.1:${(server.#server.address() as AddressInfo).port}`;
    return server;
  }

  get url(): string {
    return this.#url;
  }

  /** The server's card: by default JSON-RPC of the newest version, with streaming. */
  card(changes: Partial<AgentCard> = {}, at: Partial<AgentCard["interfaces"][number]> = {}): AgentCard {
    return {
      name: "Scripted",
      description: "Answers as the test says.",
      version: "1",
      interfaces: [{ url: `${this.#url}/rpc`, binding: "JSONRPC", protocolVersion: "1.0", ...at }],
      capabilities: { streaming: true },
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [],
      ...changes,
    };
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {});
    let text = "";
    for await (const piece of incoming) text += String(piece);
    const { method = "", url = "", headers } = incoming;
    const request: ReceivedRequest = { method, url, headers, body: text === "" ? {} : JSON.parse(text) };
    this.received.push(request);
    await this.#answer(response, request, this.received.length);
  }
}

/** A task in the format of 1.0. */
export function wireTask(state: string, more: object = {}): object {
  return {
    id: "t1",
    contextId: "c1",
    status: { state: `TASK_STATE_${state}`, timestamp: "2030-01-01T00:00:00.000Z" },
    ...more,
  };
}

export function artifact(id: string, ...texts: string[]): object {
  return { artifactId: id, parts: texts.map((text) => ({ text })) };
}

export function artifactUpdate(id: string, text: string, append = true): object {
  return { artifactUpdate: { taskId: "t1", contextId: "c1", artifact: artifact(id, text), append } };
}

export function statusUpdate(state: string, second = 1): object {
  const timestamp = `2030-01-01T00:00:${String(second).padStart(2, "0")}.000Z`;
  return { statusUpdate: { taskId: "t1", contextId: "c1", status: { state: `TASK_STATE_${state}`, timestamp } } };
}

export function rpc({ body }: ReceivedRequest, result: unknown): string {
  return JSON.stringify({ jsonrpc: "2.0", id: body.id, result });
}

export function rpcError({ body }: ReceivedRequest, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: "2.0", id: body.id, error: { code, message } });
}

export function json(response: ServerResponse, text: string, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" }).end(text);
}

export function frame(request: ReceivedRequest, result: unknown, id?: string): string {
  return `${id === undefined ? "" : `id: ${id}\n`}data: ${rpc(request, result)}\n\n`;
}

export function events(response: ServerResponse): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
}

/** Writes the text and then resets the connection. */
export function cut(response: ServerResponse, text: string): void {
  response.write(text, () => response.destroy());
}
