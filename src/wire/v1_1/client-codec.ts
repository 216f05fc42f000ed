import type { Operation } from "../../protocol/operation.ts";
import type { Task } from "../../protocol/task.ts";
import { readAnswer } from "../client/agent-answer.ts";
import type { ClientCodec, RemoteResult, RestClientCodec, RpcClientCodec } from "../client/client-codec.ts";
import { isWireObject, member } from "../fields/fields.ts";
import { createRpcClientCodec as createOlderCodec } from "../v1_0/client-codec.ts";
import { encodeRestRequest, encodeRpcRequest } from "./client-request.ts";
import { decodeRemoteEvent } from "./event.ts";
import { generationIn } from "./generation.ts";

const { decodeResult: decodeOlder, decodeError } = createOlderCodec();

const SHARED: Omit<ClientCodec, "dialect"> = {
  version: "1.1",
  decodeResult: (operation: Operation, value: unknown) => withGenerations(decodeOlder(operation, value), value),
  decodeEvent: (value: unknown) => readAnswer(() => decodeRemoteEvent(value)),
  decodeError,
};

/** The client side of JSON-RPC 1.1: that of 1.0, with generations. */
export function createRpcClientCodec(): RpcClientCodec {
  return { ...SHARED, dialect: "1.1/jsonrpc", encodeRequest: encodeRpcRequest };
}

/** The client side of REST 1.1. */
export function createRestClientCodec(): RestClientCodec {
  return { ...SHARED, dialect: "1.1/rest", encodeRequest: encodeRestRequest };
}

/** The result as 1.0 reads it from `value`, with the generation of each task. */
function withGenerations(result: RemoteResult, value: unknown): RemoteResult {
  if (result.kind === "sent" || result.kind === "task") {
    return { ...result, task: withGeneration(result.task, memberOf(value, "task") ?? value) };
  }
  if (result.kind !== "tasks") return result;
  const list: unknown = Array.isArray(value) ? value : memberOf(value, "tasks");
  const sources: readonly unknown[] = Array.isArray(list) ? list : [];
  return { ...result, tasks: result.tasks.map((task, index) => withGeneration(task, sources[index])) };
}

function withGeneration(task: Task, source: unknown): Task {
  return isWireObject(source) ? { ...task, ...generationIn(source) } : task;
}

function memberOf(value: unknown, name: string): unknown {
  return isWireObject(value) ? member(value, name) : undefined;
}
