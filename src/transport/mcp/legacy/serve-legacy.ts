import { A2AError } from "../../../protocol/error.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../../protocol/json.ts";
import { type Headers, jsonReply, type Reply } from "../../exchange.ts";
import { callerKey } from "../../rate-limit/request-limits.ts";
import { listTools } from "../call-tool.ts";
import { abilitiesOf } from "../client-abilities.ts";
import type { McpRequest } from "../face.ts";
import { INSTRUCTIONS } from "../instructions.ts";
import { RpcFailure, rpcErrorOf } from "../mcp-error.ts";
import { createProgress } from "../progress.ts";
import { errorReply, jsonAnswer, type RpcId, rpcErrorReply } from "../reply.ts";
import type { ToolOutcome } from "../run-tool.ts";
import { callOnStream } from "./call-on-stream.ts";
import { MessageStream } from "./message-stream.ts";
import { takeResponse } from "./questions-on-stream.ts";
import { LEGACY_REVISIONS, type LegacySession, NO_SESSION, readSession, sessionId } from "./session.ts";

/** Calls that this process is answering, by caller, session and request id, so that clients can cancel them. */
export type InFlight = Map<string, AbortController>;

export interface LegacyOptions {
  readonly headers: Headers;
  readonly inFlight: InFlight;
}

const SESSION_HEADER = "mcp-session-id";

/** Serves one message of the revisions up to 2025-11-25. Sessions hold no state in this process. */
export async function serveLegacy(request: McpRequest, body: unknown, options: LegacyOptions): Promise<Reply> {
  if (Array.isArray(body))
    throw new A2AError("invalid-request", "Batches are not supported; send one message per request");
  if (!isJsonObject(body) || body["jsonrpc"] !== "2.0")
    throw new A2AError("invalid-request", "The body is not a JSON-RPC 2.0 message");
  const { method, id } = body;
  const { headers } = options;
  if (method === undefined) {
    await takeResponse(request, body);
    return accepted(headers);
  }
  if (typeof method !== "string") throw new A2AError("invalid-request", "method: must be a string");
  const params = isJsonObject(body["params"]) ? body["params"] : {};
  const given = request.exchange.header(SESSION_HEADER);
  const session = given === undefined ? NO_SESSION : readSession(given, request.face.settings.key);
  // The client must then start a new session.
  if (session === undefined)
    return rpcErrorReply(404, { id: null, error: { code: -32001, message: "The session does not exist" } });
  if (id === undefined) {
    if (method === "notifications/cancelled")
      options.inFlight.get(keyOf(request, params["requestId"] ?? null))?.abort();
    return accepted(headers);
  }
  if (typeof id !== "string" && typeof id !== "number")
    throw new A2AError("invalid-request", "id: must be a string or a number");
  return answer(request, { id, method, params, session }, options);
}

interface LegacyRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: JsonObject;
  readonly session: LegacySession;
}

async function answer(request: McpRequest, message: LegacyRequest, options: LegacyOptions): Promise<Reply> {
  const { id, method, params, session } = message;
  const { headers } = options;
  const { endpoint } = request.face;
  const result = (value: JsonObject, more: Headers = {}): Reply =>
    jsonAnswer(endpoint, JSON.stringify({ jsonrpc: "2.0", id, result: value }), { ...headers, ...more });
  try {
    if (method === "initialize") return result(...initialized(request, params));
    if (method === "ping") return result({});
    // Safe cast: definitions are JSON.
    if (method === "tools/list")
      return result({ tools: (await listTools(request, session.client)) as unknown as JsonValue });
    if (method === "tools/call") return await callReply(request, message, options);
    throw new A2AError("method-not-found", "Method not found");
  } catch (thrown) {
    return failure(thrown, id, headers);
  }
}

/** The answer to `initialize`, and the header with the session. */
function initialized({ face }: McpRequest, { protocolVersion, capabilities }: JsonObject): [JsonObject, Headers] {
  const [latest = ""] = LEGACY_REVISIONS;
  const revision = LEGACY_REVISIONS.find((each) => each === protocolVersion) ?? latest;
  const session: LegacySession = { revision, client: { ...abilitiesOf(capabilities), tasks: false } };
  return [
    {
      protocolVersion: revision,
      capabilities: { tools: {} },
      serverInfo: { ...face.settings.info },
      instructions: INSTRUCTIONS,
    },
    { [SESSION_HEADER]: sessionId(session, face.settings.key) },
  ];
}

/** Answers a call with JSON, or with a stream if the client asked for progress or can be asked questions. */
async function callReply(
  request: McpRequest,
  message: LegacyRequest,
  { headers, inFlight }: LegacyOptions,
): Promise<Reply> {
  const { id, params, session } = message;
  const { name, _meta } = params;
  if (typeof name !== "string") throw new RpcFailure({ code: -32602, message: "name: must be a string" });
  if (params["arguments"] !== undefined && !isJsonObject(params["arguments"]))
    throw new RpcFailure({ code: -32602, message: "arguments: must be an object" });
  const meta = isJsonObject(_meta) ? _meta : {};
  const token = meta["progressToken"];
  const progressToken = typeof token === "string" || typeof token === "number" ? token : undefined;
  const { forms, urls } = session.client;
  const streams = acceptsEvents(request) && (progressToken !== undefined || forms || urls);
  const client = streams ? session.client : { ...session.client, forms: false, urls: false };
  const canceled = new AbortController();
  const key = keyOf(request, id);
  const call = {
    args: isJsonObject(params["arguments"]) ? params["arguments"] : {},
    meta,
    client,
    responses: {},
    resumed: undefined,
  };
  inFlight.set(key, canceled);
  const forget = (): void => {
    if (inFlight.get(key) === canceled) inFlight.delete(key);
  };
  if (!streams) {
    const signal = AbortSignal.any([request.exchange.signal, canceled.signal]);
    const outcome = await callOnStream(request, { name, call: { ...call, signal }, send: () => undefined }).finally(
      forget,
    );
    return jsonAnswer(request.face.endpoint, JSON.stringify(responseOf(id, outcome)), headers);
  }
  const stream = new MessageStream(() => canceled.abort());
  const registry = request.face.endpoint.streams;
  registry.add(stream);
  callOnStream(request, {
    name,
    call: {
      ...call,
      signal: canceled.signal,
      progress: createProgress(progressToken, async (note) => stream.notify({ jsonrpc: "2.0", ...note })),
    },
    send: (question) => stream.send(question),
  })
    .then(
      (outcome) => stream.send(responseOf(id, outcome)),
      (thrown: unknown) => stream.send(errorResponse(request, thrown, id)),
    )
    .finally(() => {
      forget();
      registry.remove(stream);
      stream.end();
    });
  const type = { "content-type": "text/event-stream", "cache-control": "no-cache", "x-accel-buffering": "no" };
  return { status: 200, headers: { ...headers, ...type }, source: stream };
}

function responseOf(id: string | number, outcome: ToolOutcome): JsonObject {
  if (outcome.kind !== "result") throw new Error(`A call of an earlier revision ended with ${outcome.kind}.`);
  // Safe cast: results are JSON.
  return { jsonrpc: "2.0", id, result: outcome.result as unknown as JsonObject };
}

function errorResponse(request: McpRequest, thrown: unknown, id: string | number): JsonObject {
  if (!(thrown instanceof RpcFailure) && !(thrown instanceof A2AError))
    request.face.endpoint.environment.logger.error("A request of an MCP client failed", { error: thrown });
  const error = thrown instanceof RpcFailure ? thrown.error : rpcErrorOf(thrown);
  return { jsonrpc: "2.0", id, error: { ...error } };
}

/** A failed request. Errors of the protocol itself have the status 200, as other answers. */
function failure(thrown: unknown, id: RpcId, headers: Headers): Reply {
  if (thrown instanceof RpcFailure) return rpcErrorReply(200, { id, error: thrown.error, headers });
  const reply = errorReply(thrown, id, headers);
  return thrown instanceof A2AError && thrown.code === "method-not-found" ? { ...reply, status: 200 } : reply;
}

function accepted(headers: Headers): Reply {
  return { ...jsonReply(202, "", headers) };
}

function acceptsEvents({ exchange }: McpRequest): boolean {
  const accept = exchange.header("accept") ?? "";
  return accept.includes("text/event-stream") || accept.includes("*/*");
}

/** Identifies a call of one client. Clients without a session share the ids of their address. */
function keyOf({ exchange, principal, face }: McpRequest, id: JsonValue): string {
  const client = callerKey(principal, face.endpoint.environment.remoteOf(exchange));
  return JSON.stringify([client, exchange.header(SESSION_HEADER) ?? null, id]);
}
