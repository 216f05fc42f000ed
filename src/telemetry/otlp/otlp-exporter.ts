import type { Logger } from "../../internal/logger.ts";
import { REQUEST_END, type Resource, requestStart } from "./otlp-json.ts";
import { type PostTraces, postWithFetch } from "./post-traces.ts";
import { SpanQueue } from "./span-queue.ts";
import type { ReportedSpan, SpanSink } from "./span-sink.ts";
import type { SpanSpool } from "./span-spool.ts";

export interface OtlpExporterOptions {
  /** Where traces are sent, such as `http://127.0.0.1:4318/v1/traces`. */
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly resource: Resource;
  /** Milliseconds for one request. Default 10 000. */
  readonly timeout?: number;
  /** Milliseconds that a span may wait for others, to be sent with them. Default 1000. */
  readonly delay?: number;
  /** Spans that may wait to be sent. Default 8192; further ones are dropped and counted. */
  readonly maxQueue?: number;
  readonly logger?: Logger | undefined;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
}

interface ExporterOptions extends OtlpExporterOptions {
  /** Keeps spans until they are sent, so that a crash loses none. */
  readonly spool?: SpanSpool | undefined;
  /** Sends requests. Default: with `fetch`. */
  readonly post?: PostTraces;
}

/** Sends spans to a collector. */
export interface OtlpExporter extends SpanSink {
  /** Spans that were lost: the queue was full, the collector refused them, or it could not be reached when the process ended. */
  readonly dropped: number;
  /** Sends what waits, within this many milliseconds, and stops. Default 2000. Never rejects. */
  close(withinMs?: number): Promise<void>;
}

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 30_000;
/** OTLP/HTTP: answers after which the same request may be sent again. */
const RETRIED: ReadonlySet<number> = new Set([408, 429, 502, 503, 504]);

/** Sends spans as OTLP/HTTP with JSON. Work never waits for it, and no failure reaches the work. */
export function createOtlpExporter(options: ExporterOptions): OtlpExporter {
  return new Exporter(options);
}

const encoder = new TextEncoder();
const END = encoder.encode(REQUEST_END);

class Exporter implements OtlpExporter {
  readonly #options: ExporterOptions;
  readonly #spool: SpanSpool | undefined;
  readonly #post: PostTraces;
  readonly #queue: SpanQueue;
  readonly #requestStart: Uint8Array;
  /** The request that is under way. */
  #request: AbortController | undefined;
  #isStopped = false;
  #timer: NodeJS.Timeout | undefined;
  #sending: Promise<void> | undefined;
  #pause = 0;
  #isClosing = false;
  #isFailureLogged = false;
  dropped = 0;

  constructor(options: ExporterOptions) {
    this.#options = options;
    this.#spool = options.spool;
    this.#post = options.post ?? postWithFetch(options.fetch ?? fetch);
    this.#queue = options.spool?.queue ?? new SpanQueue();
    this.#requestStart = encoder.encode(requestStart(options.resource));
    if (this.#queue.count > 0) this.#schedule();
  }

  began(span: ReportedSpan, leaves: boolean): void {
    if (this.#spool === undefined) return;
    this.#spool.began(span);
    // Otherwise the context leaves the process with a commit, before which the spool is flushed.
    if (leaves) this.#spool.flush();
  }

  ended(span: ReportedSpan): void {
    if (this.#isClosing || this.#queue.count >= (this.#options.maxQueue ?? 8192)) {
      this.#drop(1, "the queue is full");
      this.#spool?.forget(span);
      return;
    }
    const hadFullBatch = this.#queue.hasFullBatch;
    this.#queue.add(span);
    this.#spool?.ended(span);
    if (this.#queue.count === 1 || this.#queue.hasFullBatch !== hadFullBatch) this.#schedule();
  }

  async close(withinMs = 2000): Promise<void> {
    if (this.#isClosing) return this.#sending;
    this.#isClosing = true;
    const limit = setTimeout(() => {
      this.#isStopped = true;
      this.#request?.abort();
    }, withinMs);
    clearTimeout(this.#timer);
    await this.#sending;
    while (this.#queue.count > 0 && !this.#isStopped) await this.#sendBatch();
    clearTimeout(limit);
    if (this.#queue.count > 0) this.#drop(this.#queue.count, "the process ends");
    this.#spool?.close();
  }

  #schedule(): void {
    if (this.#isClosing || this.#sending !== undefined) return;
    clearTimeout(this.#timer);
    const isFull = this.#queue.hasFullBatch && this.#pause === 0;
    this.#timer = setTimeout(() => void this.#run(), isFull ? 0 : Math.max(this.#pause, this.#options.delay ?? 1000));
    // Waiting spans do not keep the process alive; `close` sends them.
    this.#timer.unref();
  }

  async #run(): Promise<void> {
    this.#sending ??= this.#sendBatch();
    await this.#sending;
    this.#sending = undefined;
    if (this.#queue.count > 0) this.#schedule();
  }

  /** Never rejects. */
  async #sendBatch(): Promise<void> {
    const batch = this.#queue.first();
    if (batch === undefined) return;
    // A span that the collector has and that has not ended in the spool would end a second time after a crash.
    this.#spool?.flush();
    const problem = await this.#send([this.#requestStart, batch.members, END]);
    if (problem?.isTemporary === true) {
      const doubled = Math.min(LONGEST_PAUSE, (this.#pause || FIRST_PAUSE / 2) * 2);
      this.#pause = problem.retryAfter ?? doubled * (0.5 + Math.random() / 2);
      this.#warn(problem.reason);
      if (this.#isClosing) await new Promise((resolve) => void setTimeout(resolve, 100));
      return;
    }
    this.#pause = 0;
    const { count } = batch;
    this.#queue.removeFirst();
    if (problem === undefined) this.#isFailureLogged = false;
    else this.#drop(count, problem.reason);
    this.#spool?.sent(count);
  }

  async #send(body: readonly Uint8Array[]): Promise<Problem | undefined> {
    const { url, timeout = 10_000 } = this.#options;
    const headers = { ...this.#options.headers, "content-type": "application/json" };
    const request = new AbortController();
    this.#request = request;
    // `AbortSignal.timeout` would last and cost until its end, also after the answer.
    const limit = setTimeout(() => request.abort(new DOMException("No answer in time", "TimeoutError")), timeout);
    try {
      const { status, retryAfter } = await this.#post({ url, headers, body, signal: request.signal });
      if (status >= 200 && status < 300) return undefined;
      const seconds = Number(retryAfter);
      return {
        reason: `HTTP ${status}`,
        isTemporary: RETRIED.has(status),
        ...(seconds > 0 && { retryAfter: Math.min(seconds * 1000, LONGEST_PAUSE) }),
      };
    } catch (error) {
      return { reason: error instanceof Error ? error.name : "unknown error", isTemporary: true };
    } finally {
      clearTimeout(limit);
      this.#request = undefined;
    }
  }

  #drop(count: number, reason: string): void {
    this.dropped += count;
    this.#warn(reason);
  }

  /** Once per outage. */
  #warn(reason: string): void {
    if (this.#isFailureLogged) return;
    this.#isFailureLogged = true;
    const { origin } = new URL(this.#options.url);
    this.#options.logger?.warn("Traces cannot be exported", { collector: origin, reason, dropped: this.dropped });
  }
}

interface Problem {
  /** Without the URL, which may contain credentials. */
  readonly reason: string;
  readonly isTemporary: boolean;
  /** Milliseconds. */
  readonly retryAfter?: number;
}
