import type { CredentialSource } from "../auth/verify/contract.ts";
import type { Logger } from "../internal/logger.ts";
import type { ErrorCode } from "../protocol/error.ts";
import type { Operation } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import type { Audit } from "./audit.ts";
import type { BodyMemory } from "./body/body-memory.ts";
import type { Exchange } from "./exchange.ts";
import type { RequestLimits } from "./rate-limit/request-limits.ts";

/** What an authenticator sees of a request. A web `Request` has most of it. */
export interface IncomingRequest extends CredentialSource {
  /** The caller's network address, where known. */
  readonly remote: string | undefined;
  /** The id of the agent addressed. */
  readonly agent: string;
}

/**
 * Says who calls, from the headers alone: the body is not read before. `undefined`: nobody in particular. Throw an `A2AError`
 * to refuse with that error; whatever else is thrown refuses as `unauthenticated`.
 */
export type Authenticate = (request: IncomingRequest) => Principal | undefined | Promise<Principal | undefined>;

/** One call, told after it was answered; a stream, after it ended. */
export interface CallRecord {
  /** Absent where the request could not be understood that far. */
  readonly operation?: Operation;
  readonly agent: string;
  readonly dialect: string;
  readonly principal: Principal;
  readonly traceparent?: string;
  readonly durationMs: number;
  /** Absent when the call succeeded. */
  readonly error?: ErrorCode;
}

export interface TransportHooks {
  readonly on?: {
    /** A failing handler is logged and changes nothing. */
    call?(record: CallRecord): void | Promise<void>;
  };
}

/** Streams open at a time. The default of the engine's `maxSubscribers` is at least this: every stream is a subscription. */
export const DEFAULT_MAX_STREAMS = 20_000;

export interface TransportLimits {
  /** Bytes of a request body. Default 10 MB. */
  readonly maxBodyBytes?: number;
  /**
   * Bytes of memory for all request bodies that have not arrived completely. Over it, the slowest of them are dropped. Default 64 MB; at least
   * `maxBodyBytes`.
   */
  readonly maxPendingBodyBytes?: number;
  /** Bytes of memory for those of one network address. Default 32 MB; at least `maxBodyBytes`. */
  readonly maxPendingBodyBytesPerAddress?: number;
  /** Bytes of tasks on one page of a list; a page has at least one task. Default 4 MB. */
  readonly maxPageBytes?: number;
  /** Bytes that answers of 64 KB and more hold in memory while they are being sent. Default 128 MB. */
  readonly maxAnswerBytes?: number;
  /** Streams open at a time. Default 20,000. */
  readonly maxStreams?: number;
  /** Streams that one caller may have open at a time. Default: as many as there may be. */
  readonly maxStreamsPerCaller?: number;
  /** Agents that a message may have passed on its way here; 0 refuses every message that another agent passes on. Default 16. */
  readonly maxHops?: number;
}

/** What every binding is given. */
export interface TransportEnvironment {
  readonly authenticate: Authenticate | undefined;
  /** The caller's own network address, where known: a trusted proxy says it. */
  readonly remoteOf: (exchange: Exchange) => string | undefined;
  readonly hooks: TransportHooks;
  readonly maxBodyBytes: number;
  readonly bodyMemory: BodyMemory;
  /** Absent: everybody may call as often as they like. */
  readonly requestLimits?: RequestLimits | undefined;
  /** Absent: nobody wants to know. */
  readonly audit?: Audit | undefined;
  readonly logger: Logger;
}
