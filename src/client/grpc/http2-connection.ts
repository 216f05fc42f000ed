import type { Clock } from "../../internal/clock.ts";
import { RemoteError } from "../http/errors.ts";
import { keepAlive } from "./keep-alive.ts";

type Http2 = NonNullable<ReturnType<typeof process.getBuiltinModule<"node:http2">>>;
type Session = ReturnType<Http2["connect"]>;
type Stream = ReturnType<Session["request"]>;
type IncomingHeaders = Readonly<Record<string, unknown>>;

export interface Http2Request {
  /** Scheme, host, port, path and query. */
  readonly url: URL;
  readonly headers: Headers;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
}

/** An answer whose head has arrived. */
export interface Http2Answer {
  readonly status: number;
  readonly headers: Headers;
  /** The next bytes of the body; `undefined` at the end. Rejects with `network` if the connection breaks. */
  next(): Promise<Uint8Array | undefined>;
  /** After the end of the body. */
  readonly trailers: Headers;
  cancel(): void;
}

/** Milliseconds that a connection stays open without requests. */
const IDLE = 5000;
/** Milliseconds that a server has to close a connection that has ended. */
const LINGER = 1000;

/** Whether this runtime has HTTP/2 for clients. */
export function hasHttp2(): boolean {
  return http2Module() !== undefined;
}

/** Asked for at run time: browsers do not have this module, and their bundlers must not look for it. */
function http2Module(): Http2 | undefined {
  if (typeof process === "undefined" || typeof process.getBuiltinModule !== "function") return undefined;
  return process.getBuiltinModule("node:http2");
}

/** One connection to a server, opened on demand and again after it broke. It does not keep the process alive while it is idle. */
export class Http2Connection {
  readonly #clock: Clock;
  readonly #sockets = new WeakMap<Session, { destroy(): unknown }>();
  #session: Session | undefined;
  #open = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Resolves with the answer's head. Rejects with `network`, or with the signal's reason. A request that the server refused before it did
   * anything is repeated once, such as one that crossed a GOAWAY.
   */
  async request(request: Http2Request): Promise<Http2Answer> {
    const first = this.#send(request);
    try {
      return await first.answer;
    } catch (thrown) {
      if (first.stream.rstCode !== REFUSED_STREAM || request.signal.aborted) throw thrown;
      return this.#send(request).answer;
    }
  }

  #send(request: Http2Request): Sent {
    const { url, headers, body, signal } = request;
    const { promise, resolve, reject } = Promise.withResolvers<Http2Answer>();
    signal.throwIfAborted();
    const session = this.#sessionFor(url);
    const stream = session.request({
      ...Object.fromEntries(headers),
      ":method": "POST",
      ":path": url.pathname + url.search,
    });
    this.#began(session);
    const answer = new StreamedAnswer(stream, url);
    const onAbort = (): void => answer.fail(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    session.once("error", answer.broke);
    stream.on("error", answer.broke);
    stream.on("response", (head: IncomingHeaders) => {
      answer.begin(head);
      resolve(answer);
    });
    stream.on("close", () => {
      signal.removeEventListener("abort", onAbort);
      session.removeListener("error", answer.broke);
      answer.closed();
      this.#ended(session);
    });
    answer.failed.catch(reject);
    stream.end(body);
    return { stream, answer: promise };
  }

  #sessionFor({ origin }: URL): Session {
    const known = this.#session;
    if (known !== undefined && !known.closed && !known.destroyed) return known;
    const session = http2Module()?.connect(origin);
    if (session === undefined) throw new RemoteError("no-interface", "gRPC needs Node: this runtime has no HTTP/2.");
    this.#session = session;
    this.#open = 0;
    const leave = (): void => {
      if (this.#session === session) this.#session = undefined;
    };
    // Requests report errors themselves: each of them listens.
    session.setMaxListeners(0);
    session.on("error", leave);
    session.on("close", leave);
    session.on("goaway", leave);
    session.on("connect", (_session, socket) => this.#sockets.set(session, socket));
    keepAlive(session, this.#clock);
    return session;
  }

  #began(session: Session): void {
    clearTimeout(this.#timer);
    if (session !== this.#session) return;
    this.#open += 1;
    session.ref();
  }

  #ended(session: Session): void {
    if (session !== this.#session) {
      // Another connection replaced it.
      this.#close(session);
      return;
    }
    this.#open -= 1;
    if (this.#open > 0) return;
    session.unref();
    this.#timer = setTimeout(() => this.#close(session), IDLE);
    this.#timer.unref();
  }

  /** After the last request. Node then waits for the server to close the connection too, and some servers never do. */
  #close(session: Session): void {
    session.close();
    const destroy = (): void => {
      if (session.destroyed) this.#sockets.get(session)?.destroy();
    };
    setTimeout(destroy, LINGER).unref();
  }
}

interface Sent {
  readonly stream: Stream;
  readonly answer: Promise<Http2Answer>;
}

/** Reads a stream of HTTP/2 on demand: what is not read is not requested from the server. */
class StreamedAnswer implements Http2Answer {
  status = 0;
  headers: Headers = new Headers();
  trailers: Headers = new Headers();
  /** Rejects if the answer fails before its end. */
  readonly failed: Promise<never>;
  readonly #reject: (reason: unknown) => void;
  readonly #stream: Stream;
  readonly #where: string;
  #error: unknown;
  #isEnded = false;
  #wake: (() => void) | undefined;

  constructor(stream: Stream, url: URL) {
    this.#stream = stream;
    this.#where = url.origin;
    const { promise, reject } = Promise.withResolvers<never>();
    this.failed = promise;
    this.#reject = reject;
    promise.catch(() => {});
    stream.on("readable", () => this.#awake());
    stream.on("trailers", (headers: IncomingHeaders) => {
      this.trailers = headersOf(headers);
    });
    stream.on("end", () => {
      this.#isEnded = true;
      this.#awake();
    });
  }

  begin(head: IncomingHeaders): void {
    this.status = Number(head[":status"]);
    this.headers = headersOf(head);
  }

  async next(): Promise<Uint8Array | undefined> {
    for (;;) {
      if (this.#error !== undefined) throw this.#error;
      const chunk: unknown = this.#stream.read();
      if (chunk instanceof Uint8Array) return chunk;
      if (this.#isEnded) return undefined;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  cancel(): void {
    this.#stream.close(CANCEL);
  }

  readonly broke = (cause: unknown): void => {
    const text = cause instanceof Error ? cause.message : String(cause);
    const problem = this.status === 0 ? "could not be reached" : "broke the connection";
    this.fail(new RemoteError("network", `${this.#where} ${problem}: ${text}`, { cause }));
  };

  fail(error: unknown): void {
    this.#error ??= error;
    this.#reject(error);
    if (!this.#stream.closed) this.cancel();
    this.#awake();
  }

  /** A stream that the server resets without an error is complete only if it has a head and has ended. Node also ends streams without a head. */
  closed(): void {
    if (!this.#isEnded || this.status === 0)
      this.broke(new Error(`the stream was closed with code ${this.#stream.rstCode ?? 0}`));
  }

  #awake(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }
}

const REFUSED_STREAM = 7;
const CANCEL = 8;

function headersOf(incoming: IncomingHeaders): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming)) {
    if (!name.startsWith(":")) for (const one of [value].flat()) headers.append(name, String(one));
  }
  return headers;
}
