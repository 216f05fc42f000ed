// All names of spans, attributes and span events. They follow the OpenTelemetry conventions for generative AI and for A2A, which are still in
// development: if one changes, only this file changes. Names that the conventions do not have begin with `palaver.`.

import type { Operation } from "../../protocol/operation.ts";
import type { TaskState } from "../../protocol/state.ts";

/** Names of methods: those of A2A 1.0, whatever version the caller uses. */
export const METHODS: Readonly<Record<Operation, string>> = {
  send: "SendMessage",
  stream: "SendStreamingMessage",
  get: "GetTask",
  list: "ListTasks",
  cancel: "CancelTask",
  subscribe: "SubscribeToTask",
  "push-create": "CreateTaskPushNotificationConfig",
  "push-get": "GetTaskPushNotificationConfig",
  "push-list": "ListTaskPushNotificationConfigs",
  "push-delete": "DeleteTaskPushNotificationConfig",
  "extended-card": "GetExtendedAgentCard",
};

/** The name of a call whose method is not known. */
export const UNKNOWN_METHOD = "A2A";
export const INVOKE_AGENT = "invoke_agent";
export const STEP = "palaver.step";
export const QUESTION = "palaver.question";
export const WAIT = "palaver.wait";
export const DELIVERY = "palaver.webhook.deliver";
export const EXECUTE_TOOL = "execute_tool";
export const CHAT = "chat";

export const STATUS_EVENT = "a2a.task.status";
export const ARTIFACT_EVENT = "a2a.task.artifact";

export const ATTRIBUTE = {
  method: "a2a.method.name",
  taskId: "a2a.task.id",
  taskState: "a2a.task.state",
  protocolVersion: "a2a.protocol.version",
  protocolBinding: "a2a.protocol.binding",
  contextId: "gen_ai.conversation.id",
  agentName: "gen_ai.agent.name",
  agentId: "gen_ai.agent.id",
  operationName: "gen_ai.operation.name",
  provider: "gen_ai.provider.name",
  requestModel: "gen_ai.request.model",
  responseModel: "gen_ai.response.model",
  finishReasons: "gen_ai.response.finish_reasons",
  inputTokens: "gen_ai.usage.input_tokens",
  cachedInputTokens: "gen_ai.usage.cache_read.input_tokens",
  outputTokens: "gen_ai.usage.output_tokens",
  reasoningTokens: "gen_ai.usage.reasoning.output_tokens",
  toolName: "gen_ai.tool.name",
  toolCallId: "gen_ai.tool.call.id",
  toolType: "gen_ai.tool.type",
  errorType: "error.type",
  serverAddress: "server.address",
  serverPort: "server.port",
  httpStatus: "http.response.status_code",
  /** Identifies the work: equal for all spans of the same work. */
  spanKey: "palaver.span.key",
  skill: "palaver.skill",
  turn: "palaver.turn",
  attempt: "palaver.attempt",
  outcome: "palaver.outcome",
  stepName: "palaver.step.name",
  webhook: "palaver.webhook.id",
  deliveryAttempt: "palaver.webhook.attempt",
  seq: "palaver.event.seq",
} as const;

/** Values of attributes that are texts. */
type Named = { readonly [name in (typeof ATTRIBUTE)[keyof typeof ATTRIBUTE]]?: string | undefined };

// V8 makes objects with literal names many times faster than with the constants above as computed names. These are made for every call.

/** The attributes of one call only. */
export function callAttributes(taskId: string | undefined): Named {
  return { "a2a.task.id": taskId };
}

/** The attributes of one task only. */
export function taskAttributes(taskId: string, contextId: string, skill: string | undefined): Named {
  return { "a2a.task.id": taskId, "gen_ai.conversation.id": contextId, "palaver.skill": skill };
}

/** Version and binding of a dialect such as `0.3/rest-proto`. The binding as agent cards name it. */
export function dialectNames(dialect: string): DialectNames {
  const known = DIALECTS.get(dialect);
  if (known !== undefined) return known;
  const [version = "", binding = ""] = dialect.split("/");
  const names = { version, binding: bindingName(binding) };
  DIALECTS.set(dialect, names);
  return names;
}

interface DialectNames {
  readonly version: string;
  readonly binding: string;
}

/** Dialects are those of the codecs, so they are few. */
const DIALECTS = new Map<string, DialectNames>();

function bindingName(binding: string): string {
  if (binding.startsWith("rest")) return "HTTP+JSON";
  return binding === "plain" ? binding : binding.toUpperCase();
}

/** `TASK_STATE_WORKING` for `working`: as in A2A 1.0. */
export const STATE_NAMES: Readonly<Record<TaskState, string>> = {
  submitted: "TASK_STATE_SUBMITTED",
  working: "TASK_STATE_WORKING",
  "input-required": "TASK_STATE_INPUT_REQUIRED",
  "auth-required": "TASK_STATE_AUTH_REQUIRED",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  canceled: "TASK_STATE_CANCELED",
  rejected: "TASK_STATE_REJECTED",
};
