import type { CredentialSource } from "../auth/verify/contract.ts";
import type { Logger } from "../internal/logger.ts";
import type { ErrorCode } from "../protocol/error.ts";
import type { Operation } from "../protocol/operation.ts";
import type { Principal } from "../protocol/principal.ts";
import type { TraceContext } from "../protocol/trace-context.ts";
import type { ReportCall } from "../telemetry/call-report.ts";
import type { Telemetry } from "../telemetry/contract.ts";
import type { Audit } from "./audit.ts";
import type { BodyMemory } from "./body/body-memory.ts";
import type { Exchange } from "./exchange.ts";
import type { RequestLimits } from "./rate-limit/request-limits.ts";

/** The parts of a request that an authenticator reads. A web `Request` has most of them. */
export interface IncomingRequest extends CredentialSource {
  /** The caller's network address, if known. */
  readonly remote: string | undefined;
  /** The id of the addressed agent. */
  readonly agent: string;
}

/**
 * Identifies the caller by the headers; the body has not been read yet. `undefined`: an anonymous caller. Throw an `A2AError` to refuse the
 * call with that error; any other error refuses it as `unauthenticated`.
 */
export type Authenticate = (request: IncomingRequest) => Principal | undefined | Promise<Principal | undefined>;

/** One call, reported after its answer; a stream, after its end. */
export interface CallRecord {
  /** Absent if the request could not be parsed that far. */
  readonly operation?: Operation;
  readonly agent: string;
  readonly dialect: string;
  readonly principal: Principal;
  /** Where the call belongs in a distributed trace. */
  readonly trace?: TraceContext;
  readonly durationMs: number;
  /** Absent if the call succeeded. */
  readonly error?: ErrorCode;
}

export interface TransportHooks {
  readonly on?: {
    /** Called after every call. An error it throws is logged and changes nothing. */
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
  /** The same for the bodies of one network address. Default 32 MB; at least `maxBodyBytes`. */
  readonly maxPendingBodyBytesPerAddress?: number;
  /** Bytes of tasks on one page of a list; a page has at least one task. Default 4 MB. */
  readonly maxPageBytes?: number;
  /** Bytes that answers of 64 KB and more hold in memory while they are being sent. Default 128 MB. */
  readonly maxAnswerBytes?: number;
  /** Streams open at a time. Default 20,000. */
  readonly maxStreams?: number;
  /** Streams that one caller may have open at a time. Default: `maxStreams`. */
  readonly maxStreamsPerCaller?: number;
  /** The most agents that may have forwarded a message; 0 refuses every forwarded message. Default 16. */
  readonly maxHops?: number;
}

/** What every binding needs from its host. */
export interface TransportEnvironment {
  readonly authenticate: Authenticate | undefined;
  /** The caller's own network address, if known: the one that trusted proxies report. */
  readonly remoteOf: (exchange: Exchange) => string | undefined;
  readonly hooks: TransportHooks;
  readonly maxBodyBytes: number;
  readonly bodyMemory: BodyMemory;
  /** Absent: no rate limits. */
  readonly requestLimits?: RequestLimits | undefined;
  /** Absent: no audit log. */
  readonly audit?: Audit | undefined;
  /** Absent: calls are not observed. */
  readonly telemetry?: Telemetry | undefined;
  /** Absent: calls are not counted and not logged. */
  readonly reportCall?: ReportCall | undefined;
  /** Called for each request that the rate limit of its network address refuses. */
  readonly onAddressLimit?: (() => void) | undefined;
  readonly logger: Logger;
}
