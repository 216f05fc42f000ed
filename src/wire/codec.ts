// The contract of the server side: one codec per dialect, which `registry.ts` lists. `wire/client/client-codec.ts` is the client side.

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

/**
 * Encodes and decodes one dialect: one protocol version in one binding. Pure functions between the dialect's JSON and the neutral model
 * of `protocol/`. Decoders take the output of `JSON.parse` and throw an `A2AError` (`invalid-params`) that names the invalid field.
 * Encoders return JSON text without line breaks.
 */
export interface Codec {
  /** Version and binding: `1.0/jsonrpc`. Stored with every task as the dialect in which it was created. */
  readonly dialect: string;
  /** `Major.Minor`. */
  readonly version: string;
  /** How operations behave in this version, where versions differ. */
  readonly policy: OperationPolicy;
  /** The HTTP header that lists extensions in this version, in lower case. */
  readonly extensionsHeader: string;

  /**
   * The `result` member of a JSON-RPC response, or the whole body of a REST answer. Large members stay placeholders; see `large-task.ts`.
   */
  encodeResult(result: OperationResult): string;
  /**
   * The first frame of a stream. Several frames in 0.1, whose streams cannot contain a whole task: one for the status and one for each
   * artifact.
   */
  encodeOpening(opening: StreamOpening): string | readonly NamedText[];
  /**
   * Creates the state that the codec keeps for one stream, such as the numbers of artifacts in 0.1. `artifacts`: the stored artifacts so far,
   * if the policy's `numbersArtifacts` asks for them and the opening omits them. Absent, or `undefined` as result: no state.
   */
  streamState?(task: StoredTask, artifacts: string | undefined): object | undefined;
  /** A later frame. The text is cached in `event.encoded`, so each event is encoded once for all readers of the same format. */
  encodeEvent(event: EventText, place: EventPlace): string;
  /** The `error` member of a JSON-RPC response, or the whole body of a REST answer. */
  encodeError(error: A2AError): string;
  /** The value of a `Link` header for the next page. Present where the lists of a version have no member for a page token. */
  nextPageLink?(next: ListPosition, request: OperationRequest | undefined): string;
  /** How to write the artifacts and the history of a task that is too large to be encoded as one text (`task.large`). */
  largeTask(task: StoredTask): LargeTaskFormat;
  /** The value of `event:` in a later frame, for readers that ask for event names. Absent: frames have no names. */
  eventName?(event: EventText): string;
  /** The HTTP status of an answer with this error. */
  statusOf(error: A2AError): number;
  /**
   * The codec for a task that was created in `dialect`. Present where several styles share a path and the request has no body that shows
   * the caller's style (REST 0.3); the answer then has the style in which the task was created.
   */
  forTask?(dialect: string | undefined): Codec;
}

/** How a dialect writes the large members of a task. The encoded task contains placeholders, which these texts replace. */
export interface LargeTaskFormat {
  /** The placeholder of the artifacts, as this dialect encodes it. */
  readonly artifactsPlaceholder: string;
  /** The text that replaces the placeholder, piece by piece. */
  artifacts(pieces: AsyncIterable<ArtifactPiece>): AsyncGenerator<string>;
  /** The placeholder of the history, as this dialect encodes it. */
  readonly historyPlaceholder: string;
  /** Encodes one stored message of the history. `undefined`: the dialect writes this message elsewhere. */
  message(stored: string): string | undefined;
}

/** A codec for JSON-RPC: the method name identifies the operation. */
export interface RpcCodec extends Codec {
  /** `undefined` if this version does not define the method. */
  operationOf(method: string): Operation | undefined;
  /** Throws an `A2AError` that names the invalid field. */
  decodeRequest(operation: Operation, params: unknown): OperationRequest;
  /** Clients of this version read only events from a streaming method: an error becomes the only event of a stream. */
  readonly streamErrorsAsEvents: boolean;
  /** A `get` that accepts only `text/event-stream` is treated as `subscribe`. Default: false. */
  readonly streamsGets?: boolean;
}

/** A codec for REST: method and path identify the operation; see `RestRoute`. */
export interface RestCodec extends Codec {
  /** Throws an `A2AError` that names the invalid field. */
  decodeRequest(operation: Operation, request: RestRequest): OperationRequest;
  /** The media types of JSON answers, the default first. */
  readonly mediaTypes: readonly [string, ...string[]];
}

/** A REST request, split into its parts but not decoded. */
export interface RestRequest {
  /** The values of the route's path parameters, percent-decoded; includes `tenant` if the path has it. */
  readonly path: Readonly<Record<string, string>>;
  /** As received: the codec decides about duplicate and unknown names. */
  readonly query: URLSearchParams;
  /** The parsed JSON body; `undefined` if the request has no body. */
  readonly body: unknown;
}

/** One REST route. A name in braces matches one path segment: `/tasks/{id}:cancel`. */
export interface RestRoute {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly operation: Operation;
}

/** Chooses the agent of a request at the server's root, whose path names no agent. */
export interface RootAgent {
  /** `undefined`: the request is refused, because {@link missing} was not found. */
  choose<A extends ServedAgent>(agents: readonly A[], header: RequestHeader): A | undefined;
  readonly missing: string;
}

/** The part of an agent's declaration that {@link RootAgent} reads. */
export interface ServedAgent {
  readonly id: string;
  readonly defaultProjectId?: string | undefined;
}

/** The value of a request header; the name is in lower case. */
export type RequestHeader = (name: string) => string | undefined;

/** The REST routes of one version. Paths of different families do not overlap. */
export interface RestFamily {
  readonly routes: readonly RestRoute[];
  /** Every route also exists with the prefix `/{tenant}`. */
  readonly tenants: boolean;
  /** Which agent these routes lead to at the server's root. Absent: the first agent. */
  readonly rootAgent?: RootAgent | undefined;
  /**
   * The codec for a request, by the requested version and the style of the body. Call it with `undefined` before the body is read, to
   * get the codec for errors of reading. Never throws.
   */
  choose(requested: string | undefined, body: unknown): Choice<RestCodec>;
}

/** The codec for a request. `refusal` is present if the request must be refused; the codec then encodes that error. */
export interface Choice<C extends Codec> {
  readonly codec: C;
  readonly refusal?: A2AError;
}

/** Encodes agent cards in the format of one version, or of several versions at once. */
export interface CardCodec {
  /** Identifies the format: a version such as `1.0`, or `hybrid` or `union`. */
  readonly variant: string;
  /** The whole card as JSON text, without signatures. */
  encodeCard(card: AgentCard): string;
}

/** Encodes notifications for webhooks that were registered in one version. Pure, as all codecs. */
export interface PushCodec {
  /**
   * `event`: one notification per event. `task`: each notification is the whole task after the event; chunks that arrive together make
   * one notification.
   */
  readonly carries: "event" | "task";
  /** The `Content-Type` of the notification. */
  readonly mediaType: string;
  /** Additional HTTP headers, such as `A2A-Version`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Also send the webhook's token as `Authorization: Bearer` if the webhook has no other credentials. */
  readonly tokenAsBearer: boolean;
  encodeEvent(event: EventText, place: EventPlace): string;
  /** Used by codecs that carry events too, once the events are no longer stored. */
  encodeTask(task: StoredTask, about: PushedChange): string;
}

/** The last event that a notification of a whole task covers. */
export interface PushedChange {
  /** Receivers of 0.1 get it as `eventType`. */
  readonly kind: PushEventKind;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/** The start of a stream: the current task, or the agent's only message. */
export type StreamOpening = (
  | { readonly kind: "task"; readonly task: StoredTask }
  | { readonly kind: "message"; readonly message: Message }
) & {
  /** The stream ends with the opening. */
  readonly final?: boolean;
};

/** The text of a frame, and the value of its `event:` for readers that ask for event names. */
export interface NamedText {
  readonly text: string;
  readonly name: string;
}

/** A committed event. */
export interface EventText {
  /** The event as it is stored: JSON, in the format of `protocol/serial.ts`. */
  readonly body: string;
  /** Its number in the log. Absent for a part of a stream's opening. */
  readonly seq?: number;
  /** Present on status events. */
  readonly state?: TaskState;
  /** A cache for the encoded texts of this event, shared by all its readers. Keys must be unique per format. */
  readonly encoded?: { get(key: string): string | undefined; set(key: string, text: string): void } | undefined;
}

/** The task and the stream that an event belongs to. One object serves all events of a stream except the last. */
export interface EventPlace {
  readonly taskId: TaskId;
  readonly contextId: ContextId;
  /** The stream ends with this event. */
  readonly final: boolean;
  /** The dialect in which the task was created, if known. */
  readonly origin?: string | undefined;
  /** The value of the codec's `streamState` for this stream. Only the codec reads it. */
  readonly state?: object | undefined;
}
