import type { AgentCard } from "../../protocol/card.ts";
import type { A2AError } from "../../protocol/error.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type {
  ListRequest,
  Operation,
  OperationRequest,
  PushConfig,
  PushListRequest,
} from "../../protocol/operation.ts";
import type { Task } from "../../protocol/task.ts";

/** A list request to a server. Page tokens are opaque: the client returns them as it received them. */
export type RemoteListRequest = Omit<ListRequest, "before"> & {
  /** Default: the first page. Empty counts as absent. */
  readonly pageToken?: string;
};

/** A request for a task's webhooks. Versions without pages ignore `pageToken` and return all. */
export type RemotePushListRequest = Omit<PushListRequest, "after"> & Pick<RemoteListRequest, "pageToken">;

/** A request that a client sends. */
export type ClientRequest =
  | Exclude<OperationRequest, ListRequest | PushListRequest>
  | RemoteListRequest
  | RemotePushListRequest;

/**
 * The client side of one dialect: encodes requests and decodes answers. Decoding is lenient: missing and additional members are accepted
 * as long as the answer has one meaning. Otherwise the decoders throw an `A2AError` of code `invalid-agent-response`.
 */
export interface ClientCodec {
  /** Version and binding: `1.0/jsonrpc`. */
  readonly dialect: string;
  /** `Major.Minor`. */
  readonly version: string;
  /** `value`: the `result` of a JSON-RPC response, or the body of a REST answer. */
  decodeResult(operation: Operation, value: unknown): RemoteResult;
  /** Decodes one frame of a stream, without the JSON-RPC envelope. */
  decodeEvent(value: unknown): RemoteEvent;
  /** `value`: the `error` of a JSON-RPC response, or the body of a REST answer with that HTTP status. Never throws. */
  decodeError(value: unknown, httpStatus: number): A2AError;
}

/** The client side of a JSON-RPC dialect. The caller adds the envelope (`jsonrpc`, `id`). */
export interface RpcClientCodec extends ClientCodec {
  /** Throws an `A2AError` of code `unsupported-operation` if the version has no such method. */
  encodeRequest(request: ClientRequest): RpcCall;
}

/** The client side of a REST dialect. */
export interface RestClientCodec extends ClientCodec {
  /** Throws an `A2AError`: `unsupported-operation` if the dialect has no such route, `invalid-params` for an id that no path can contain. */
  encodeRequest(request: ClientRequest): RestCall;
}

/** The members of a JSON-RPC request that depend on the operation. */
export interface RpcCall {
  readonly method: string;
  /** JSON text. */
  readonly params: string;
}

/** One HTTP request without its headers. */
export interface RestCall {
  readonly method: "GET" | "POST" | "DELETE";
  /** Path and query, percent-encoded; appended to the URL of the interface. */
  readonly path: string;
  /** JSON text. Absent: the request has no body. */
  readonly body?: string;
}

/**
 * The answer of an agent, independent of its version. The kinds follow the operation, except for a send, which returns a task or a message.
 */
export type RemoteResult =
  | { readonly kind: "sent"; readonly task: Task }
  | { readonly kind: "replied"; readonly message: Message }
  | { readonly kind: "task"; readonly task: Task }
  | {
      readonly kind: "tasks";
      readonly tasks: readonly Task[];
      readonly total: number;
      readonly pageSize: number;
      /** Empty on the last page. */
      readonly nextPageToken: string;
    }
  | { readonly kind: "push-config"; readonly config: RemotePushConfig }
  | {
      readonly kind: "push-configs";
      readonly configs: readonly RemotePushConfig[];
      /** Empty on the last page. */
      readonly nextPageToken: string;
    }
  /** The operation succeeded and has no result. */
  | { readonly kind: "done" }
  | { readonly kind: "card"; readonly card: AgentCard };

/** A webhook as the server stores it. The server may mask its secrets. */
export type RemotePushConfig = PushConfig & { readonly taskId: TaskId };

/** One frame of a stream, independent of the agent's version: a whole task, a message, or an event of a task. */
export type RemoteEvent =
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "message"; readonly message: Message }
  | (TaskEvent & {
      readonly taskId: TaskId;
      readonly contextId: ContextId;
      /** The server marked the event as the last of the stream. */
      readonly final: boolean;
      /** The task asks a question, but the server keeps the stream open (`final: false`, A2A 0.3 §7.2.2). */
      readonly moreFollows?: boolean;
      /** The generation of the task after the event, if the server sends it. */
      readonly generation?: number;
    });
