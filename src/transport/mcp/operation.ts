import { CALL_PATH_HEADER } from "../../protocol/call-path.ts";
import { A2AError } from "../../protocol/error.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { OperationPolicy, OperationRequest, OperationResult } from "../../protocol/operation.ts";
import type { Scope } from "../../protocol/principal.ts";
import { acceptCallPath } from "../../server/accept-call-path.ts";
import { scopeOf } from "../../server/call.ts";
import { perform } from "../../server/perform.ts";
import { recordAnswer } from "../call/answer-call.ts";
import { callError } from "../call/serve-call.ts";
import { ServedCall } from "../call/served-call.ts";
import type { Exchange } from "../exchange.ts";
import { type McpRequest, serviceOf } from "./face.ts";

/** How operations behave for MCP clients. They use neither webhooks nor extended cards. */
const POLICY: OperationPolicy = {
  closeOnInputRequired: true,
  terminalSubscribe: "snapshot",
  repeatCancel: "snapshot",
  undeclaredExtendedCard: "unsupported-operation",
  namesTasks: false,
  tasksOnly: false,
  answersByReference: false,
  answersByContext: false,
  push: { single: false, missing: "error", afterFailure: "suspended" },
};

/** What operations of one MCP request have in common. */
export interface CallOptions {
  /** Aborts when the client cancels its request or disconnects. */
  readonly signal: AbortSignal;
  /** `_meta` of the request: it carries the trace context (`traceparent`, `tracestate`). */
  readonly meta: JsonObject;
}

/** Calls one agent for the caller of a request. */
export interface AgentCaller {
  readonly agent: string;
  readonly service: ServedCall["service"];
  readonly scope: Scope;
  /** Authorizes and performs an operation; writes the audit log, the request log, metrics and spans. Rejects with an `A2AError`. */
  perform(operation: Exclude<OperationRequest, { operation: "stream" | "subscribe" }>): Promise<OperationResult>;
}

/** Authenticates the caller for an agent. Throws `task-not-found` if this path does not serve the agent. */
export async function callAgent(request: McpRequest, agent: string, options: CallOptions): Promise<AgentCaller> {
  const service = serviceOf(request, agent);
  if (service === undefined) throw new A2AError("task-not-found", "Task not found");
  const principal = await request.callerOf(agent);
  const open = (): ServedCall => {
    const call = new ServedCall({
      exchange: callExchange(request.exchange, options),
      service,
      codec: () => ({ dialect: request.dialect, policy: POLICY }),
    });
    call.principal = principal;
    return call;
  };
  return {
    agent,
    service,
    scope: scopeOf(open(), agent, ""),
    perform: (operation) => performCall(request, open(), operation),
  };
}

async function performCall(
  { face, exchange }: McpRequest,
  call: ServedCall,
  operation: OperationRequest,
): Promise<OperationResult> {
  const { endpoint } = face;
  const { telemetry } = endpoint.environment;
  const { service } = call;
  call.operation = operation.operation;
  call.request = operation;
  if (telemetry?.call !== undefined)
    call.span = telemetry.call({ agent: service.agent.id, dialect: call.dialect, trace: call.sentTrace });
  try {
    const accepted = await acceptCallPath(service, operation, exchange.header(CALL_PATH_HEADER));
    call.callPath = accepted.callPath;
    const result = await perform(service, call, accepted.request);
    if (result.kind === "stream") throw new Error("A stream was opened for an MCP client.");
    recordAnswer(endpoint, call, { result });
    return result;
  } catch (thrown) {
    const error = callError(call, thrown);
    recordAnswer(endpoint, call, { error });
    throw error;
  }
}

/** Headers of A2A that have no meaning in a request of MCP. */
const HIDDEN: ReadonlySet<string> = new Set(["a2a-version", "a2a-extensions", "x-a2a-extensions", "last-event-id"]);

/** The request as operations see it: with the trace context of `_meta`, and the client's own signal. */
function callExchange(exchange: Exchange, { signal, meta }: CallOptions): Exchange {
  const traced = (name: string): string | undefined => {
    const value = meta[name];
    return typeof value === "string" ? value : undefined;
  };
  return {
    method: exchange.method,
    target: "/mcp",
    header: (name) => {
      if (name === "traceparent" && traced(name) !== undefined) return traced(name);
      if (name === "tracestate" && traced("traceparent") !== undefined) return traced(name);
      return HIDDEN.has(name) ? undefined : exchange.header(name);
    },
    body: () => Promise.reject(new Error("The body has been read.")),
    signal,
    remote: exchange.remote,
    certificate: exchange.certificate,
  };
}
