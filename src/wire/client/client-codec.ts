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

/** A list as it is asked of a server whose pages are its own business: its token is handed back as it came. */
export type RemoteListRequest = Omit<ListRequest, "before"> & {
  /** Empty or absent: the first page. */
  readonly pageToken?: string;
};

/** The same for a list of push configurations; versions without pages ask for all. */
export type RemotePushListRequest = Omit<PushListRequest, "after"> & Pick<RemoteListRequest, "pageToken">;

/** What is asked of a server. */
export type ClientRequest =
  | Exclude<OperationRequest, ListRequest | PushListRequest>
  | RemoteListRequest
  | RemotePushListRequest;

/**
 * A dialect from its caller's side: it writes requests and reads answers. Readers are liberal: what a server leaves out that it
 * should not, or adds, is no reason to fail, as long as it can be understood; they throw an `A2AError` of code
 * `invalid-agent-response` where it cannot.
 */
export interface ClientCodec {
  readonly dialect: string;
  readonly version: string;
  decodeResult(operation: Operation, value: unknown): RemoteResult;
  /** What one frame of a stream carries, without the binding's envelope. */
  decodeEvent(value: unknown): RemoteEvent;
  /** The `error` member of a JSON-RPC response, or the body of a REST answer of that status. */
  decodeError(value: unknown, httpStatus: number): A2AError;
}

export interface RpcClientCodec extends ClientCodec {
  encodeRequest(request: ClientRequest): RpcCall;
}

export interface RestClientCodec extends ClientCodec {
  encodeRequest(request: ClientRequest): RestCall;
}

export interface RpcCall {
  readonly method: string;
  /** JSON. */
  readonly params: string;
}

export interface RestCall {
  readonly method: "GET" | "POST" | "DELETE";
  /** What follows the interface's URL: path and query, percent-encoded. */
  readonly path: string;
  /** JSON. */
  readonly body?: string;
}

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
  /** There is nothing to tell but that it is done. */
  | { readonly kind: "done" }
  | { readonly kind: "card"; readonly card: AgentCard };

/** A configuration as a server keeps it; its secrets may be masked. */
export type RemotePushConfig = PushConfig & { readonly taskId: TaskId };

export type RemoteEvent =
  | { readonly kind: "task"; readonly task: Task }
  | { readonly kind: "message"; readonly message: Message }
  | (TaskEvent & {
      readonly taskId: TaskId;
      readonly contextId: ContextId;
      /** The server says that nothing follows. */
      readonly final: boolean;
      /** The task asks something, and the server says that more follows all the same (0.3: `final: false`). */
      readonly moreFollows?: boolean;
    });
