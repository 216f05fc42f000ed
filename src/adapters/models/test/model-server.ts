import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { Model } from "../model-contract.ts";

/** A message as the OpenAI-compatible endpoint receives it. */
export interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly id: string; readonly function: { readonly name: string } }[];
  readonly tool_call_id?: string;
}

/** What the scripted model answers: pieces of text, then tool calls. */
export interface Answer {
  /** Pieces of reasoning, before the text. */
  readonly reasoning?: readonly string[];
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly id: string; readonly name: string; readonly input: string }[];
  /** Refuses with this status instead. */
  readonly status?: number;
  /** Breaks the connection after the text. */
  readonly cut?: boolean;
  /** Sends nothing more after the text, and keeps the connection open. */
  readonly stall?: boolean;
  /** Milliseconds between two pieces. Default: none. */
  readonly pause?: number;
}

/** A request as the endpoint receives it, as far as tests look at it. */
export interface WireRequest {
  readonly model: string;
  readonly messages: readonly WireMessage[];
  readonly response_format?: unknown;
}

export interface ModelServer extends AsyncDisposable {
  readonly model: Model;
  /** The base URL of the endpoint. */
  readonly url: string;
  readonly requests: WireRequest[];
  readonly headers: IncomingHttpHeaders[];
  /** The messages of every call, in order. */
  readonly calls: (readonly WireMessage[])[];
}

/** An HTTP endpoint like OpenAI's that answers by a script, and the real provider of the AI SDK in front of it. */
export async function openModelServer(
  script: (messages: readonly WireMessage[], call: number) => Answer,
): Promise<ModelServer> {
  const calls: (readonly WireMessage[])[] = [];
  const requests: WireRequest[] = [];
  const headers: IncomingHttpHeaders[] = [];
  const server = createServer((request, response) => {
    void bodyOf(request).then((body) => {
      // Safe cast: the provider of the test sends this.
      const received = JSON.parse(body) as WireRequest;
      requests.push(received);
      headers.push(request.headers);
      calls.push(received.messages);
      return answer(response, script(received.messages, calls.length));
    });
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  // Safe cast: the server listens on a port.
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}/v1`;
  const provider = createOpenAICompatible({ name: "test", baseURL: url, includeUsage: true });
  return {
    model: provider("scripted"),
    url,
    requests,
    headers,
    calls,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let body = "";
  for await (const piece of request.setEncoding("utf8")) body += piece;
  return body;
}

async function answer(response: ServerResponse, wanted: Answer): Promise<void> {
  const { reasoning = [], text = [], calls = [], status, cut, stall, pause } = wanted;
  if (status !== undefined) {
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { message: "secret detail of the provider" } }));
    return;
  }
  response.writeHead(200, { "content-type": "text/event-stream" });
  const send = async (delta: object, more: object = {}): Promise<void> => {
    const choices = [{ index: 0, delta, finish_reason: null, ...more }];
    response.write(
      `data: ${JSON.stringify({ id: "r", object: "chat.completion.chunk", created: 1, model: "m", choices })}\n\n`,
    );
    if (pause !== undefined) await delay(pause);
  };
  for (const piece of reasoning) await send({ role: "assistant", reasoning_content: piece });
  for (const content of text) await send({ role: "assistant", content });
  if (stall === true) return;
  if (cut === true) {
    // After what was written has left the buffers.
    setImmediate(() => setTimeout(() => response.destroy(), 20));
    return;
  }
  for (const [index, { id, name, input }] of calls.entries())
    await send({ tool_calls: [{ index, id, type: "function", function: { name, arguments: input } }] });
  await send({}, { finish_reason: calls.length > 0 ? "tool_calls" : "stop" });
  const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 };
  response.write(
    `data: ${JSON.stringify({ id: "r", object: "chat.completion.chunk", created: 1, model: "m", choices: [], usage })}\n\n`,
  );
  response.end("data: [DONE]\n\n");
}
