import type { AgentCard } from "../protocol/card.ts";
import type { A2AError } from "../protocol/error.ts";
import type { ContextId, TaskId } from "../protocol/ids.ts";
import type { Message } from "../protocol/message.ts";
import type { Operation, OperationPolicy, OperationRequest, OperationResult } from "../protocol/operation.ts";
import type { StoredTask } from "../protocol/serial.ts";
import type { TaskState } from "../protocol/state.ts";

/**
 * One dialect: pure functions between its JSON and the neutral model. Decoders take what `JSON.parse` gave and throw an
 * `A2AError` that names the offending field; encoders return JSON text without line breaks.
 */
export interface Codec {
  /** `Major.Minor`. */
  readonly version: string;
  readonly policy: OperationPolicy;

  /** The operation a JSON-RPC method names; `undefined` if this version has no such method. */
  operationOf(method: string): Operation | undefined;
  decodeRequest(operation: Operation, params: unknown): OperationRequest;

  encodeResult(result: OperationResult): string;
  /** The first frame of a stream. */
  encodeOpening(opening: StreamOpening): string;
  /** A later frame. Made once per event and spelling, however many read it. */
  encodeEvent(event: EventText, place: EventPlace): string;
  /** The error object of a JSON-RPC response. */
  encodeError(error: A2AError): string;
  encodeCard(card: AgentCard): string;
}

export type StreamOpening =
  | { readonly kind: "task"; readonly task: StoredTask }
  | { readonly kind: "message"; readonly message: Message };

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
}
