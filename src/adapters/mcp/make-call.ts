import type { Client, ElicitRequestParams } from "@modelcontextprotocol/client";
import type { StepContext, TaskContext } from "../../engine/agent/agent.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import { writeTraceparent } from "../../protocol/trace-context.ts";
import { checkJson } from "../schema/check-json.ts";
import { askForServer } from "./ask-for-server.ts";
import { type CallTimer, createCallTimer } from "./call-timer.ts";
import type { McpConnection } from "./connections/mcp-connection.ts";
import type { Lease, McpConnections } from "./connections/mcp-connections.ts";
import { failureOf, isOfConnection, isSessionUnknown, type StoredFailure, urlQuestionsIn } from "./failure-of.ts";
import type { InputRequest } from "./input-requests.ts";
import type { McpSettings } from "./mcp-agent-options.ts";
import { progressStatus } from "./progress-status.ts";
import { blockPart, contentPart, errorText, resultParts, type ToolResult } from "./result-parts.ts";
import type { ServerCall } from "./server-skills.ts";

/** The parameters of a call; those of a later round have the answers and the server's state. */
export interface CallParameters {
  readonly arguments: JsonObject;
  readonly inputResponses?: Readonly<Record<string, unknown>>;
  readonly requestState?: string;
}

/** The stored outcome of one round: what was written is stored with it. */
export interface CallOutcome {
  readonly failure?: StoredFailure;
  /** Questions that must be answered before the next round. */
  readonly requests?: Readonly<Record<string, InputRequest>>;
  /** The state of the server, to be returned with the answers. */
  readonly state?: string;
  readonly isRetry?: boolean;
}

export interface CallWork {
  readonly connections: McpConnections;
  readonly settings: McpSettings;
  readonly call: ServerCall;
  readonly parameters: CallParameters;
  readonly step: StepContext;
  /** Unique among the calls of the turn. */
  readonly key: string;
}

/** The longest time of Node's timers: the call has a timer of its own. */
const NEVER = 2 ** 31 - 1;

/** Makes one call and writes its result. What is wrong with the server or the call is a stored failure; it throws only if the task must stop. */
export async function makeCall(task: TaskContext, work: CallWork, isFirst = true): Promise<CallOutcome> {
  const { connections, settings, step, call, parameters } = work;
  if (call.kind === "resource" && !call.isOffered(textOfValue(parameters.arguments["uri"])))
    return { failure: { code: "mcp-call-refused", message: "The server does not offer a resource with this URI." } };
  let lease: Lease;
  try {
    lease = await connections.lease(step.signal);
  } catch (error) {
    step.signal.throwIfAborted();
    task.log.error("An MCP server could not be reached", { error });
    return { failure: { code: "mcp-unavailable", message: "The tools of this agent are not available now." } };
  }
  const timer = createCallTimer(settings.callTimeout);
  let isSuspect = false;
  try {
    return await callOn(task, lease.connection, { ...work, timer });
  } catch (error) {
    step.signal.throwIfAborted();
    const requests = urlQuestionsIn(error);
    if (requests !== undefined) return { requests, isRetry: true };
    const failure = failureOf(error, { timer, connection: lease.connection, settings });
    if (failure === undefined) throw error;
    isSuspect = isOfConnection(failure);
    if (isSessionUnknown(error) && isFirst) {
      // The server has forgotten the session, so it has not looked at the call. The next connection begins another one.
      lease.release(true);
      return await makeCall(task, work, false);
    }
    task.log.warn("A call of an MCP server failed", { code: failure.code, error });
    return { failure };
  } finally {
    timer.stop();
    lease.release(isSuspect);
  }
}

interface OpenCall extends CallWork {
  readonly timer: CallTimer;
}

async function callOn(task: TaskContext, connection: McpConnection, work: OpenCall): Promise<CallOutcome> {
  const { timer, step, key } = work;
  const status = progressStatus(task);
  let count = 0;
  connection.onElicitation = (question) => {
    count += 1;
    return timer.paused(() =>
      askForServer(task, question, { name: `${key} question ${count}`, ...settledElsewhere(connection, question) }),
    );
  };
  const options = {
    signal: AbortSignal.any([step.signal, timer.signal]),
    timeout: NEVER,
    allowInputRequired: true,
    onprogress: (progress: Parameters<typeof status.report>[0]) => {
      timer.restart();
      status.report(progress);
    },
  };
  const result = await request(connection.client, work, options);
  await status.settled();
  if (isInputRequired(result)) {
    const { inputRequests = {}, requestState } = result;
    return { requests: inputRequests, ...(requestState !== undefined && { state: requestState }) };
  }
  return resultOutcome(task, work.call, result);
}

/** The server reports when a question by URL was settled in the browser. */
function settledElsewhere(connection: McpConnection, question: ElicitRequestParams) {
  if (question.mode !== "url") return {};
  const settled = Promise.withResolvers<void>();
  connection.onElicitationComplete = (id) => {
    if (id === question.elicitationId) settled.resolve();
  };
  return { until: () => settled.promise };
}

type ServerResult = ToolResult & { readonly parts?: readonly Part[] };

interface InputRequired {
  readonly resultType: "input_required";
  readonly inputRequests?: Readonly<Record<string, InputRequest>>;
  readonly requestState?: string;
}

function isInputRequired(result: object): result is InputRequired {
  return "resultType" in result && result.resultType === "input_required";
}

type SendOptions = Parameters<Client["callTool"]>[1];

async function request(client: Client, work: CallWork, options: SendOptions): Promise<ServerResult | InputRequired> {
  const { call, parameters, step } = work;
  const { trace } = step;
  const meta = trace && {
    _meta: { traceparent: writeTraceparent(trace), ...(trace.state !== undefined && { tracestate: trace.state }) },
  };
  const { arguments: given, ...more } = parameters;
  const params = { ...more, ...meta };
  if (call.kind === "tool") {
    // The result is checked below: the client would also check one that only asks.
    const { outputSchema: _, ...toolDefinition } = call.tool;
    return client.callTool(
      { name: call.tool.name, arguments: { ...given }, ...params },
      { ...options, toolDefinition },
    );
  }
  if (call.kind === "prompt") {
    const texts = Object.fromEntries(Object.entries(given).map(([name, value]) => [name, textOfValue(value)]));
    const result = await client.getPrompt({ name: call.prompt.name, arguments: texts, ...params }, options);
    return isInputRequired(result) ? result : { parts: result.messages.map(({ content }) => blockPart(content)) };
  }
  const result = await client.readResource(
    { uri: textOfValue(given["uri"]), ...params },
    { ...options, cacheMode: "bypass" },
  );
  return isInputRequired(result) ? result : { parts: result.contents.map(contentPart) };
}

async function resultOutcome(task: TaskContext, call: ServerCall, result: ServerResult): Promise<CallOutcome> {
  if (result.isError === true) return { failure: { code: "mcp-tool-failed", message: errorText(result) } };
  const problem = call.kind === "tool" ? lieIn(result, call.tool.outputSchema) : undefined;
  if (problem !== undefined)
    return {
      failure: { code: "mcp-result-invalid", message: `The result of the tool is not as it declares: ${problem}.` },
    };
  for (const part of result.parts ?? resultParts(result)) await task.write(part);
  return {};
}

/** What is wrong with the structured content by the schema that the tool declares. */
function lieIn({ structuredContent }: ServerResult, schema: object | undefined): string | undefined {
  if (schema === undefined) return undefined;
  if (structuredContent === undefined) return "it has no structured content";
  // Safe casts: the client has parsed both from JSON.
  const [issue] = checkJson(structuredContent as JsonValue, schema as JsonObject);
  return issue === undefined ? undefined : `${issue.path.join(".") || "it"} ${issue.message}`.slice(0, 300);
}

/** Arguments of prompts and URIs are texts. */
function textOfValue(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? null);
}
