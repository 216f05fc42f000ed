import { invalidField } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Operation } from "../../protocol/operation.ts";
import type { Task } from "../../protocol/task.ts";
import { readAnswer } from "../client/agent-answer.ts";
import type { RemotePushConfig, RemoteResult, RestClientCodec, RpcClientCodec } from "../client/client-codec.ts";
import { decodeRemotePushConfig } from "../client/remote-push-config.ts";
import { listOf, textOf } from "../fields/answer-fields.ts";
import { asObject, member, optionalInteger, type WireObject } from "../fields/fields.ts";
import { decodeCard } from "./card.ts";
import { encodeRestRequest, encodeRpcRequest } from "./client-request.ts";
import { decodeError } from "./error.ts";
import { decodeRemoteEvent } from "./event.ts";
import { remote } from "./task.ts";

const SHARED = {
  version: "1.0",
  decodeResult: (operation: Operation, value: unknown) => readAnswer(() => decodeResult(operation, value)),
  decodeEvent: (value: unknown) => readAnswer(() => decodeRemoteEvent(value)),
  decodeError,
} as const;

/** The client side of JSON-RPC 1.0 (A2A 1.0 §9). */
export function createRpcClientCodec(): RpcClientCodec {
  return { ...SHARED, dialect: "1.0/jsonrpc", encodeRequest: encodeRpcRequest };
}

/** The client side of REST 1.0 (A2A 1.0 §11). Its objects are those of JSON-RPC. */
export function createRestClientCodec(): RestClientCodec {
  return { ...SHARED, dialect: "1.0/rest", encodeRequest: encodeRestRequest };
}

function decodeResult(operation: Operation, value: unknown): RemoteResult {
  switch (operation) {
    case "send":
    case "stream":
      return decodeSent(value);
    case "get":
    case "cancel":
    case "subscribe":
      return { kind: "task", task: decodeTask(value) };
    case "list":
      return decodeTasks(value);
    case "push-create":
    case "push-get":
      return { kind: "push-config", config: decodePushConfig(value, "result") };
    case "push-list": {
      const wire = pageOf(value, "configs");
      const configs = listOf(member(wire, "configs"), "result.configs", decodePushConfig);
      return { kind: "push-configs", configs, nextPageToken: decodePageToken(wire) };
    }
    case "push-delete":
      // The result may be an empty object, `null` or absent.
      return { kind: "done" };
    case "extended-card":
      return { kind: "card", card: decodeCard(value) };
  }
}

/** A send returns the same objects as the first frame of a stream. */
function decodeSent(value: unknown): RemoteResult {
  const event = decodeRemoteEvent(value);
  if (event.kind === "task") return { kind: "sent", task: event.task };
  if (event.kind === "message") return { kind: "replied", message: event.message };
  throw invalidField("result", "must have one of task and message");
}

/** The task itself (A2A 1.0 §3.1.3); some agents wrap it in `task`, as the result of a send. */
function decodeTask(value: unknown): Task {
  const wire = asObject(value, "result");
  return remote.task(member(wire, "task") ?? wire, "result");
}

/** If `totalSize` or `pageSize` is missing, the number of returned tasks is used. */
function decodeTasks(value: unknown): RemoteResult {
  const wire = pageOf(value, "tasks");
  const tasks = listOf(member(wire, "tasks"), "result.tasks", remote.task);
  return {
    kind: "tasks",
    tasks,
    total: optionalInteger(member(wire, "totalSize", "total_size"), "result.totalSize") ?? tasks.length,
    pageSize: optionalInteger(member(wire, "pageSize", "page_size"), "result.pageSize") ?? tasks.length,
    nextPageToken: decodePageToken(wire),
  };
}

/** A page, or a bare array as in other versions. */
function pageOf(value: unknown, name: string): WireObject {
  return Array.isArray(value) ? { [name]: value } : asObject(value ?? {}, "result");
}

function decodePageToken(wire: WireObject): string {
  return textOf(member(wire, "nextPageToken", "next_page_token"), "result.nextPageToken");
}

function decodePushConfig(value: unknown, path: string): RemotePushConfig {
  const owner = asObject(value, path);
  const taskId = textOf(member(owner, "taskId", "task_id"), `${path}.taskId`) as TaskId;
  return { taskId, ...decodeRemotePushConfig(owner, path) };
}
