import { type WireEvent, type WireTask, wireTask } from "../event-line.ts";

/** One HTTP request. */
export interface Call {
  readonly path: string;
  readonly body: object;
  readonly headers: Readonly<Record<string, string>>;
}

export interface Outgoing {
  readonly messageId: string;
  readonly text: string;
  /** Absent: the message creates a task. */
  readonly taskId?: string;
}

export interface SendConfiguration {
  readonly waits: boolean;
  readonly webhook?: string | undefined;
}

/**
 * The meaning of a response. `again`: it is unknown whether the request was executed, or it was not; repeating is safe.
 */
export type Outcome =
  | { readonly kind: "task"; readonly task: WireTask }
  | { readonly kind: "refused"; readonly why: string }
  | { readonly kind: "again"; readonly why: string };

/** A version of the protocol in one binding. Written independently of the server's codecs, so that it checks them. */
export interface Dialect {
  readonly name: string;
  readonly version: string;
  readonly binding: string;
  send(message: Outgoing, configuration: SendConfiguration): Call;
  stream(message: Outgoing, configuration: SendConfiguration): Call;
  subscribe(taskId: string): Call;
  cancel(taskId: string): Call;
  /** Reads a complete response. */
  outcome(status: number, body: string): Outcome;
  /** Reads the data of one stream frame; a string describes the error. */
  frame(data: string): WireEvent | string;
}

const V1 = { "content-type": "application/json", "a2a-version": "1.0" };
const V0_3 = { "content-type": "application/json" };

function message1({ messageId, text, taskId }: Outgoing): object {
  return { messageId, role: "ROLE_USER", parts: [{ text }], ...(taskId !== undefined && { taskId }) };
}

function params1(message: Outgoing, { waits, webhook }: SendConfiguration): object {
  const push = webhook === undefined ? {} : { taskPushNotificationConfig: { url: webhook } };
  return { message: message1(message), configuration: { returnImmediately: !waits, ...push } };
}

const rpc1 = (method: string, params: object): Call => ({
  path: "/",
  body: { jsonrpc: "2.0", id: 1, method, params },
  headers: V1,
});

const V1_JSONRPC: Dialect = {
  name: "1.0 JSONRPC",
  version: "1.0",
  binding: "JSONRPC",
  send: (message, configuration) => rpc1("SendMessage", params1(message, configuration)),
  stream: (message, configuration) => rpc1("SendStreamingMessage", params1(message, configuration)),
  subscribe: (id) => rpc1("SubscribeToTask", { id }),
  cancel: (id) => rpc1("CancelTask", { id }),
  outcome: rpcOutcome,
  frame: rpcFrame,
};

const V1_REST: Dialect = {
  name: "1.0 HTTP+JSON",
  version: "1.0",
  binding: "HTTP+JSON",
  send: (message, configuration) => ({ path: "/message:send", body: params1(message, configuration), headers: V1 }),
  stream: (message, configuration) => ({ path: "/message:stream", body: params1(message, configuration), headers: V1 }),
  subscribe: (id) => ({ path: `/tasks/${id}:subscribe`, body: {}, headers: V1 }),
  cancel: (id) => ({ path: `/tasks/${id}:cancel`, body: {}, headers: V1 }),
  outcome(status, body) {
    if (status === 200) return taskOutcome(JSON.parse(body));
    return refusalOutcome(status, { code: 0, text: body });
  },
  frame(data) {
    const frame: WireEvent & { readonly error?: unknown } = JSON.parse(data);
    return frame.error === undefined ? frame : data;
  },
};

function params0_3({ messageId, text, taskId }: Outgoing, { waits, webhook }: SendConfiguration): object {
  const push = webhook === undefined ? {} : { pushNotificationConfig: { url: webhook } };
  const named = taskId === undefined ? {} : { taskId };
  const message = { kind: "message", messageId, role: "user", parts: [{ kind: "text", text }], ...named };
  return { message, configuration: { blocking: waits, ...push } };
}

const rpc0_3 = (method: string, params: object): Call => ({
  path: "/",
  body: { jsonrpc: "2.0", id: 1, method, params },
  headers: V0_3,
});

const V0_3_JSONRPC: Dialect = {
  name: "0.3 JSONRPC",
  version: "0.3",
  binding: "JSONRPC",
  send: (message, configuration) => rpc0_3("message/send", params0_3(message, configuration)),
  stream: (message, configuration) => rpc0_3("message/stream", params0_3(message, configuration)),
  subscribe: (id) => rpc0_3("tasks/resubscribe", { id }),
  cancel: (id) => rpc0_3("tasks/cancel", { id }),
  outcome: rpcOutcome,
  frame: rpcFrame,
};

/** Each client process uses one of these. */
export const DIALECTS: readonly [Dialect, ...Dialect[]] = [V1_JSONRPC, V1_REST, V0_3_JSONRPC];

interface RpcAnswer {
  readonly result?: WireEvent;
  readonly error?: { readonly code: number; readonly message: string };
}

function rpcOutcome(status: number, body: string): Outcome {
  if (!body.startsWith("{")) return { kind: "again", why: `HTTP ${status}` };
  const { result, error }: RpcAnswer = JSON.parse(body);
  if (result !== undefined) return taskOutcome(result);
  return refusalOutcome(status, { code: error?.code ?? 0, text: error?.message ?? body });
}

function taskOutcome(result: WireEvent): Outcome {
  const task = wireTask(result);
  return task === undefined ? { kind: "refused", why: `no task: ${JSON.stringify(result)}` } : { kind: "task", task };
}

/** Internal error: it is unknown whether the request was executed. */
const INTERNAL = -32603;

function refusalOutcome(status: number, { code, text }: { readonly code: number; readonly text: string }): Outcome {
  const kind = status >= 500 || status === 429 || code === INTERNAL ? "again" : "refused";
  return { kind, why: `HTTP ${status}: ${text}` };
}

function rpcFrame(data: string): WireEvent | string {
  const { result }: RpcAnswer = JSON.parse(data);
  return result ?? data;
}
