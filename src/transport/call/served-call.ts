import type { CallPath } from "../../protocol/call-path.ts";
import type { Ancestry } from "../../protocol/calls/ancestry.ts";
import type { Operation, OperationPolicy, OperationRequest } from "../../protocol/operation.ts";
import { ANONYMOUS, type Principal } from "../../protocol/principal.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { Call } from "../../server/call.ts";
import type { Service } from "../../server/service.ts";
import type { CallEnd, Span } from "../../telemetry/contract.ts";
import type { Codec } from "../../wire/codec.ts";
import type { Exchange, Headers } from "../exchange.ts";
import { requestedExtensions, requestedVersion } from "../service-parameters.ts";
import { traceOf } from "../trace-of.ts";

/** The part of a codec that serving a call needs. How a codec writes answers is the business of its presenter. */
export type CallCodec = Pick<Codec, "dialect" | "policy">;

export interface ServedCallOptions<C extends CallCodec> {
  readonly exchange: Exchange;
  readonly service: Service;
  /** Absent: the binding finds it in the body. */
  readonly operation?: Operation | undefined;
  /** The codec that writes errors until the request is read; chosen by the version that the caller requests. */
  codec(requestedVersion: string | undefined): C;
}

/**
 * One call, and everything found out about it so far. The same object carries the call from its first byte to its answer: readers fill it
 * in, operations see it as a {@link Call}, and presenters answer with whatever is known, also when the call fails halfway.
 */
export class ServedCall<C extends CallCodec = CallCodec> implements Call {
  readonly exchange: Exchange;
  /** The called agent. Over gRPC the message may name another one than the headers. */
  service: Service;
  /** By `performance.now()`. */
  readonly startedAt: number = performance.now();
  /** The A2A version that the caller requests, if it requests one. */
  readonly requestedVersion: string | undefined;
  codec: C;
  /** `undefined` until the request has been read that far. */
  operation: Operation | undefined;
  /** `undefined` until the request has been read. */
  request: OperationRequest | undefined;
  principal: Principal = ANONYMOUS;
  /** The caller's rate limit, sent with every answer; `undefined` until the caller is known, and without a limit. */
  limitHeaders: Headers | undefined;
  callPath: CallPath | undefined;
  ancestry: Ancestry | undefined;
  activeExtensions: readonly string[] = NONE;
  /** Present if the server is observed. */
  span: Span<CallEnd> | undefined;
  #requestedExtensions: readonly string[] | undefined;
  #sentTrace: TraceContext | undefined;
  #isTraceRead = false;

  constructor({ exchange, service, operation, codec }: ServedCallOptions<C>) {
    this.exchange = exchange;
    this.service = service;
    this.requestedVersion = requestedVersion(exchange);
    this.codec = codec(this.requestedVersion);
    this.operation = operation;
    this.request = undefined;
    this.limitHeaders = undefined;
    this.callPath = undefined;
    this.ancestry = undefined;
    this.span = undefined;
    this.#sentTrace = undefined;
    this.#requestedExtensions = undefined;
  }

  get dialect(): string {
    return this.codec.dialect;
  }

  get policy(): OperationPolicy {
    return this.codec.policy;
  }

  get requestedExtensions(): readonly string[] {
    this.#requestedExtensions ??= requestedExtensions(this.exchange);
    return this.#requestedExtensions;
  }

  /** The context of the call's own span if the server is traced, else the one that the caller sent. */
  get trace(): TraceContext | undefined {
    return this.span === undefined ? this.sentTrace : this.span.trace;
  }

  /** The context that the caller sent. */
  get sentTrace(): TraceContext | undefined {
    if (!this.#isTraceRead) {
      this.#isTraceRead = true;
      this.#sentTrace = traceOf(this.exchange);
    }
    return this.#sentTrace;
  }

  get lastEventId(): string | undefined {
    return this.exchange.header("last-event-id");
  }

  get signal(): AbortSignal {
    return this.exchange.signal;
  }
}

const NONE: readonly string[] = [];
