import { A2AError, invalidField } from "../../protocol/error.ts";
import type { ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { Operation, SendRequest } from "../../protocol/operation.ts";
import { type Part, textOf as textOfParts } from "../../protocol/part.ts";
import { TASK_STATES, type TaskState } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import { readAnswer } from "../client/agent-answer.ts";
import type { ClientRequest, RemoteResult, RestCall, RestClientCodec } from "../client/client-codec.ts";
import { codeOfStatus } from "../error-table.ts";
import { listOf, textOf, timeOf } from "../fields/answer-fields.ts";
import { asId, asObject, isWireObject, member } from "../fields/fields.ts";
import { pathSegment } from "../fields/path-segment.ts";
import { PLAIN_VERSION } from "./binding.ts";
import { partText } from "./part.ts";

/** The client side of the plain dialect, which has only tasks and text. */
export function createRestClientCodec(): RestClientCodec {
  return {
    dialect: "plain",
    version: PLAIN_VERSION,
    encodeRequest,
    decodeResult: (operation, value) => readAnswer(() => decodeResult(operation, value)),
    decodeEvent: () => {
      throw new A2AError("invalid-agent-response", "The plain dialect has no streams");
    },
    decodeError,
  };
}

/** Throws `unsupported-operation` for everything but sending and getting. */
function encodeRequest(request: ClientRequest): RestCall {
  switch (request.operation) {
    case "send":
      return { method: "POST", path: "/a2a/tasks/send", body: JSON.stringify(sendBody(request)) };
    case "get":
      return { method: "GET", path: `/a2a/tasks/${pathSegment(request.id, "id")}` };
    default:
      throw new A2AError("unsupported-operation", "The plain dialect supports only sending messages and getting tasks");
  }
}

/** Parts other than text are converted to text, because the plain dialect has nothing else. */
function sendBody({ message, metadata, timeoutMs }: SendRequest): object {
  const { skillId } = metadata;
  return {
    message: message.parts.map(partText).join("\n"),
    sessionId: message.contextId,
    taskId: message.taskId,
    skill: typeof skillId === "string" ? skillId : undefined,
    timeoutMs,
  };
}

function decodeResult(operation: Operation, value: unknown): RemoteResult {
  const task = decodeTask(value);
  return operation === "send" ? { kind: "sent", task } : { kind: "task", task };
}

/** The last message becomes the status message if it is the agent's. */
function decodeTask(value: unknown): Task {
  const outer = asObject(value, "result");
  const wire = asObject(member(outer, "task") ?? outer, "result");
  const id = asId(member(wire, "id"), "result.id");
  const state = decodeState(member(wire, "state") ?? member(asObject(wire["status"] ?? {}, "result.status"), "state"));
  const history = listOf(member(wire, "messages"), "result.messages", (item, path) => decodeMessage(item, path, id));
  const last = history.at(-1);
  const timestamp = timeOf(member(wire, "updatedAt", "createdAt"));
  return {
    id: id as TaskId,
    contextId: textOf(member(wire, "sessionId", "contextId"), "result.sessionId") as ContextId,
    status: {
      state,
      ...(last?.role === "agent" && { message: last }),
      ...(timestamp !== undefined && { timestamp }),
    },
    history,
  };
}

function decodeState(value: unknown): TaskState {
  const state = value === "cancelled" ? "canceled" : TASK_STATES.find((known) => known === value);
  if (state === undefined) throw invalidField("result.state", "must be submitted, working, completed or failed");
  return state;
}

/** Messages have no ids. Their positions serve as ids, because messages are never removed. */
function decodeMessage(value: unknown, path: string, task: string): Message {
  const wire = asObject(value, path);
  return {
    messageId: `${task}${path.slice(path.indexOf("["))}` as MessageId,
    role: member(wire, "role") === "user" ? "user" : "agent",
    parts: decodeParts(wire["parts"] ?? wire["text"], path),
    taskId: task as TaskId,
  };
}

function decodeParts(value: unknown, path: string): Part[] {
  if (typeof value === "string") return [{ text: value }];
  const parts = listOf(value, `${path}.parts`, (item, place) => {
    if (typeof item === "string") return { text: item };
    return { text: textOf(member(asObject(item, place), "text"), `${place}.text`) };
  });
  return [{ text: textOfParts(parts) }];
}

/** Takes the text from `error.message`, `error`, `detail`, `title` or the body; the HTTP status decides the code. Never throws. */
function decodeError(value: unknown, httpStatus: number): A2AError {
  const body = isWireObject(value) ? value : {};
  const error = isWireObject(body["error"]) ? body["error"] : body;
  const texts = [error["message"], body["error"], error["detail"], error["title"], value];
  const message = texts.find((text): text is string => typeof text === "string" && text !== "");
  return new A2AError(codeOfStatus(httpStatus), message ?? `The agent answered with HTTP ${httpStatus}`);
}
