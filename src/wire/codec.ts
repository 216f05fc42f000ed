import type { AgentCard } from "../protocol/card.ts";
import type { A2AError } from "../protocol/error.ts";
import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { ArtifactPiece } from "../protocol/large-members.ts";
import type { Message } from "../protocol/message.ts";
import type {
  ListPosition,
  Operation,
  OperationPolicy,
  OperationRequest,
  OperationResult,
  PushEventKind,
} from "../protocol/operation.ts";
import type { StoredTask } from "../protocol/serial.ts";
import type { TaskState } from "../protocol/state.ts";
import type { ArtifactNumbers } from "./artifact-numbers.ts";

/**
 * One dialect, a version as one binding carries it: pure functions between its JSON and the neutral model. Decoders take what
 * `JSON.parse` gave and throw an `A2AError` that names the offending field; encoders return JSON text without line breaks.
 */
export interface Codec {
  /** Version and binding, such as `1.0/jsonrpc`. */
  readonly dialect: string;
  /** `Major.Minor`. */
  readonly version: string;
  readonly policy: OperationPolicy;
  /** The header in which this version names extensions, in lower case. */
  readonly extensionsHeader: string;

  encodeResult(result: OperationResult): string;
  /** The first frame of a stream, or several where this version has no word for a whole task. */
  encodeOpening(opening: StreamOpening): string | readonly NamedText[];
  /** A later frame. Made once per event and spelling, however many read it. */
  encodeEvent(event: EventText, place: EventPlace): string;
  /** The `error` member of a JSON-RPC response, or the whole body of a REST answer. */
  encodeError(error: A2AError): string;
  /** For versions whose lists have no place for a page token: the value of a `Link` header that leads to the next page. */
  nextPageLink?(next: ListPosition, request: OperationRequest | undefined): string;
  /** How the pieces of a task are written whose artifacts or history are too large for one text (`large`). */
  largeTask(task: StoredTask): LargeTaskFormat;
  /** What a later frame's `event:` says, for readers that want it. */
  eventName?(event: EventText): string;
  /** The HTTP status that goes with that error. */
  statusOf(error: A2AError): number;
  /**
   * The codec that writes a task created in this dialect. Present only where the request does not show in which of several styles its
   * caller reads: then the style in which the task was created is used.
   */
  forTask?(dialect: string | undefined): Codec;
}

/** What replaces the placeholders in the text of a task with large members. */
export interface LargeTaskFormat {
  /** The placeholder of the artifacts as this dialect writes it. */
  readonly artifactsPlaceholder: string;
  artifacts(pieces: AsyncIterable<ArtifactPiece>): AsyncGenerator<string>;
  /** The placeholder of the history as this dialect writes it. */
  readonly historyPlaceholder: string;
  /** A message, given in its stored spelling; `undefined`: this dialect writes it elsewhere. */
  message(stored: string): string | undefined;
}

export interface RpcCodec extends Codec {
  /** The operation a method names; `undefined` if this version has no such method. */
  operationOf(method: string): Operation | undefined;
  decodeRequest(operation: Operation, params: unknown): OperationRequest;
  /** Readers of this version's streams understand nothing but events: what refuses a stream is to be its one event. */
  readonly streamErrorsAsEvents: boolean;
  /** Who gets a task and accepts nothing but events wants to follow it. Absent: such a get is answered like any other. */
  readonly streamsGets?: boolean;
}

export interface RestCodec extends Codec {
  decodeRequest(operation: Operation, request: RestRequest): OperationRequest;
  /** What a JSON answer may be sent as, the usual one first. */
  readonly mediaTypes: readonly [string, ...string[]];
}

/** A REST request, taken apart but not yet understood. */
export interface RestRequest {
  /** What stands in the path for the route's names, percent-decoded. `tenant` is among them where the path has one. */
  readonly path: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The parsed body; `undefined` where there is none. */
  readonly body: unknown;
}

/** One REST route. Names in braces stand for one path segment: `/tasks/{id}:cancel`. */
export interface RestRoute {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly operation: Operation;
}

/** The routes that are told apart by their paths alone, and the codecs that may serve them. */
export interface RestFamily {
  readonly routes: readonly RestRoute[];
  /** Each route exists with `/{tenant}` before it as well. */
  readonly tenants: boolean;
  /** At the root these routes are for the first agent that declares a default project, rather than for the first one. */
  readonly forDefaultProject?: boolean;
  /**
   * The codec for a request: by the version the caller names, if any, and by the style of its body, if that is known.
   * Never throws: asked before the body is read, it says who speaks if that fails.
   */
  choose(requested: string | undefined, body: unknown): Choice<RestCodec>;
}

/** Who speaks to a caller, and why its request is refused, if it is. */
export interface Choice<C extends Codec> {
  readonly codec: C;
  readonly refusal?: A2AError;
}

/** What card readers of one version are given. */
export interface CardCodec {
  /** Tells variants of one card apart, such as `1.0`. */
  readonly variant: string;
  encodeCard(card: AgentCard): string;
}

/** What webhooks that were registered in one dialect are sent. Pure, as codecs are. */
export interface PushCodec {
  /** `event`: every event by itself. `task`: the whole task as it stood after it; chunks that came together are told at once. */
  readonly carries: "event" | "task";
  readonly mediaType: string;
  /** The version's header and what it says, where it has one. */
  readonly headers: Readonly<Record<string, string>>;
  /** The token is also given as bearer token where nothing else is. */
  readonly tokenAsBearer: boolean;
  encodeEvent(event: EventText, place: EventPlace): string;
  /** Also for those that carry events, where the events themselves are no longer there. */
  encodeTask(task: StoredTask, about: PushedChange): string;
}

/** What a notification is about: the last event it tells of. */
export interface PushedChange {
  readonly kind: PushEventKind;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export type StreamOpening = (
  | { readonly kind: "task"; readonly task: StoredTask }
  | { readonly kind: "message"; readonly message: Message }
) & {
  /** Nothing follows. */
  readonly final?: boolean;
};

/** A frame's text, and what its `event:` says for readers that want it. */
export interface NamedText {
  readonly text: string;
  readonly name: string;
}

/** A committed event in its stored spelling, with a place for what codecs make of it. */
export interface EventText {
  readonly body: string;
  /** Present on status events. */
  readonly state?: TaskState;
  readonly encoded?: { get(key: string): string | undefined; set(key: string, text: string): void } | undefined;
}

export interface EventPlace {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  /** The stream ends with this event. */
  readonly final: boolean;
  /** The dialect in which the task was made, where known. */
  readonly origin?: string | undefined;
  /** The numbers of the task's artifacts, where the codec's policy wants them. One object for all places of a stream. */
  readonly numbers?: ArtifactNumbers | undefined;
}
