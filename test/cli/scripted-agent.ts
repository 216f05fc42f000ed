import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A request that the agent received. */
export interface Received {
  /** The JSON-RPC method. */
  readonly method: string;
  readonly params: any;
  readonly headers: IncomingMessage["headers"];
  readonly url: string;
}

/** The response to a call: a result, an error, or events; after the last event the agent may cut the connection. */
export type Reply =
  | { readonly result: unknown }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  | { readonly events: readonly unknown[]; readonly cut?: boolean }
  | { readonly status: number; readonly body?: string };

export interface ScriptedAgentOptions {
  /**
   * Members of the card that differ from the default; `null` removes a member. `BASE` is replaced by the agent's
   * address.
   */
  readonly card?: object;
  readonly reply: (call: Received, count: number) => Reply | Promise<Reply>;
}

/** A JSON-RPC agent with scripted responses. */
export class ScriptedAgent {
  readonly received: Received[] = [];
  readonly cardRequests: IncomingMessage["headers"][] = [];
  readonly #options: ScriptedAgentOptions;
  readonly #server: Server;

  private constructor(options: ScriptedAgentOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => void this.#serve(request, response));
  }

  static async start(options: ScriptedAgentOptions): Promise<ScriptedAgent> {
    const agent = new ScriptedAgent(options);
    agent.#server.listen(0, "127.0.0.1");
    await once(agent.#server, "listening");
    return agent;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, "close");
  }

  #card(): object {
    const card = {
      name: "Scripted",
      description: "Follows a script.",
      version: "3.2.1",
      supportedInterfaces: [{ url: `${this.url}/rpc`, protocolBinding: "JSONRPC", protocolVersion: "1.0" }],
      capabilities: {},
      defaultInputModes: ["text/plain"],
      defaultOutputModes: ["text/plain"],
      skills: [{ id: "s", name: "S", description: "Does it.", tags: [] }],
      ...JSON.parse(JSON.stringify(this.#options.card ?? {}).replaceAll("BASE", this.url)),
    };
    return Object.fromEntries(Object.entries(card).filter(([, value]) => value !== null));
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = request.url ?? "";
    if (request.method === "GET" && url.startsWith("/.well-known/agent-card.json")) {
      this.cardRequests.push(request.headers);
      response.setHeader("content-type", "application/json").end(JSON.stringify(this.#card()));
      return;
    }
    if (request.method !== "POST") {
      response.writeHead(404).end();
      return;
    }
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { id, method, params } = JSON.parse(body);
    const call = { method, params, headers: request.headers, url };
    this.received.push(call);
    const count = this.received.filter((other) => other.method === method).length;
    answer(response, id, await this.#options.reply(call, count));
  }
}

function answer(response: ServerResponse, id: unknown, reply: Reply): void {
  if ("status" in reply) {
    response.writeHead(reply.status, { "content-type": "application/json" }).end(reply.body ?? "{}");
    return;
  }
  if (!("events" in reply)) {
    response.setHeader("content-type", "application/json").end(JSON.stringify({ jsonrpc: "2.0", id, ...reply }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  for (const event of reply.events) {
    response.write(`data: ${JSON.stringify({ jsonrpc: "2.0", id, result: event })}\n\n`);
  }
  if (reply.cut === true) setTimeout(() => response.destroy(), 20);
  else response.end();
}

/** A task in the agent's JSON format. */
export function wireTask(id: string, state: string, more: object = {}): object {
  return {
    id,
    contextId: `context-of-${id}`,
    status: { state: `TASK_STATE_${state}`, timestamp: "2027-05-17T10:00:00.000Z" },
    ...more,
  };
}
