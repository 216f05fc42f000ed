import type { IncomingMessage } from "node:http";
import type { Outgoing, OutgoingInit, OutgoingOptions } from "./contract.ts";
import { OutgoingFailure, OutgoingRefused } from "./errors.ts";
import { exchange, networkFailure, type OutgoingRequest } from "./exchange.ts";
import { createGuardedAgents, type GuardedAgents } from "./guarded-agents.ts";
import { Rules } from "./rules.ts";

const MAX_REDIRECTS = 3;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];
/** Statuses whose answers have no body. */
const BODILESS: readonly number[] = [204, 205, 304];

/** Creates a guarded HTTP client with its own connections. Throws a `TypeError` for invalid rules. */
export function createOutgoing(options: OutgoingOptions = {}): Outgoing {
  const { timeout = 30_000, maxBytes = 1024 * 1024, connectTimeout = 10_000, maxSockets = 16 } = options;
  const rules = new Rules(options);
  const agents = createGuardedAgents({ ...options, rules, connectTimeout, maxSockets });
  return {
    check: (url, field) => rules.checkUrl(url, field),
    async fetch(input, init = {}) {
      const request = new Request(input, { ...withoutOurs(init), redirect: "manual" });
      const limits = { timeout: init.timeout ?? timeout, maxBytes: init.maxBytes ?? maxBytes };
      const redirect = init.redirect ?? (input instanceof Request ? input.redirect : "follow");
      return send(request, { rules, agents, redirect, ...limits, beforeSend: init.beforeSend });
    },
    close() {
      agents["http:"].destroy();
      agents["https:"].destroy();
    },
  };
}

function withoutOurs(init: RequestInit & OutgoingInit): RequestInit {
  const { timeout: _timeout, maxBytes: _maxBytes, beforeSend: _beforeSend, ...rest } = init;
  return rest;
}

/** The rules and limits of one request. */
interface SendOptions {
  readonly rules: Rules;
  readonly agents: GuardedAgents;
  readonly redirect: NonNullable<RequestInit["redirect"]>;
  readonly timeout: number;
  readonly maxBytes: number;
  readonly beforeSend: (() => void) | undefined;
}

/** The deadline ends when the body has been read, so it stays set after this function returns. */
async function send(request: Request, options: SendOptions): Promise<Response> {
  const { rules, timeout, beforeSend } = options;
  const url = rules.checkUrl(request.url);
  const deadline = createDeadline(request.signal, timeout, url);
  try {
    const body = request.body === null ? undefined : await request.bytes();
    const { method, headers } = request;
    const first = { method, url, headers, body, signal: deadline.signal, beforeSend };
    const { answer, last } = await follow(first, options);
    return responseOf(answer, { url: last.url, method: last.method, maxBytes: options.maxBytes, deadline });
  } catch (error) {
    deadline.release();
    throw error;
  }
}

/** The final answer, after redirects. */
interface Followed {
  readonly answer: IncomingMessage;
  /** The request that was redirected. */
  readonly last: OutgoingRequest;
}

/** Every target is checked like the first URL: a redirect must not lead around the rules. */
async function follow(first: OutgoingRequest, { rules, agents, redirect }: SendOptions): Promise<Followed> {
  let request = first;
  for (let redirects = 0; ; redirects += 1) {
    const answer = await exchange(request, agents);
    const { statusCode: status = 0, headers } = answer;
    if (redirect === "manual" || !REDIRECTS.includes(status) || headers.location === undefined) {
      return { answer, last: request };
    }
    answer.destroy();
    const { host } = request.url;
    if (redirect === "error") throw new OutgoingRefused("redirect", `${host} redirects, which is not followed.`);
    if (redirects === MAX_REDIRECTS)
      throw new OutgoingRefused("redirect", `${host} redirects more than ${MAX_REDIRECTS} times.`);
    const url = URL.parse(headers.location, request.url.href);
    if (url?.origin !== request.url.origin) {
      throw new OutgoingRefused("redirect", `${host} redirects to another origin, which is not followed.`);
    }
    const { method } = request;
    // Only 307 and 308 keep method and body (RFC 9110 §15.4).
    if (status < 307 && method !== "GET" && method !== "HEAD") {
      throw new OutgoingRefused(
        "redirect",
        `${host} redirects a ${method} with HTTP ${status}: it would become a GET.`,
      );
    }
    request = { ...request, url: rules.checkUrl(url) };
  }
}

interface Deadline {
  /** Aborts with the caller's reason, or with a timeout error. */
  readonly signal: AbortSignal;
  release(): void;
}

/** Combines the caller's signal and the timeout. `release` removes both. */
function createDeadline(signal: AbortSignal, timeout: number, url: URL): Deadline {
  const controller = new AbortController();
  const abort = (): void => controller.abort(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener("abort", abort, { once: true });
  const late = (): void => controller.abort(new OutgoingFailure("timeout", `${url.host} did not answer in time.`));
  const timer = Number.isFinite(timeout) ? setTimeout(late, timeout) : undefined;
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      signal.removeEventListener("abort", abort);
    },
  };
}

interface ResponseOptions {
  readonly url: URL;
  readonly method: string;
  readonly maxBytes: number;
  readonly deadline: Deadline;
}

/** Turns Node's answer into a web `Response`. Its `url` is the one after redirects. */
function responseOf(answer: IncomingMessage, options: ResponseOptions): Response {
  const { url, deadline, method } = options;
  const { statusCode: status = 0, statusMessage = "", rawHeaders } = answer;
  try {
    const headers = new Headers();
    for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
      headers.append(rawHeaders[index] ?? "", rawHeaders[index + 1] ?? "");
    }
    const isBodiless = BODILESS.includes(status) || method === "HEAD";
    // Throws for a status that a `Response` cannot have.
    const response = new Response(isBodiless ? null : bodyOf(answer, options), {
      status,
      statusText: statusMessage,
      headers,
    });
    Object.defineProperty(response, "url", { value: url.href });
    if (isBodiless) {
      // Only a body can continue for ever.
      if (status === 205) answer.destroy();
      else answer.resume();
      deadline.release();
    }
    return response;
  } catch (error) {
    answer.destroy();
    throw new OutgoingFailure("broken", `The answer of ${url.host} is invalid.`, { cause: error });
  }
}

/** The body as a stream that reads only on demand, so that an unread body takes no memory. */
function bodyOf(answer: IncomingMessage, { url, maxBytes, deadline }: ResponseOptions): ReadableStream<Uint8Array> {
  const { signal, release } = deadline;
  const abort = (): void => void answer.destroy(signal.reason instanceof Error ? signal.reason : undefined);
  signal.addEventListener("abort", abort, { once: true });
  const end = (): void => {
    signal.removeEventListener("abort", abort);
    release();
  };
  const pieces: AsyncIterator<Uint8Array, undefined> = answer[Symbol.asyncIterator]();
  let length = 0;
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { value } = await pieces.next();
          if (value === undefined) {
            end();
            controller.close();
            return;
          }
          length += value.byteLength;
          if (length > maxBytes) {
            throw new OutgoingFailure("too-large", `The answer of ${url.host} has more than ${maxBytes} bytes.`);
          }
          controller.enqueue(new Uint8Array(value));
        } catch (error) {
          end();
          answer.destroy();
          controller.error(signal.aborted ? signal.reason : bodyFailure(error, url));
        }
      },
      cancel() {
        end();
        answer.destroy();
      },
    },
    { highWaterMark: 0 },
  );
}

function bodyFailure(error: unknown, url: URL): Error {
  if (error instanceof OutgoingFailure) return error;
  return error instanceof Error
    ? networkFailure(error, url)
    : new OutgoingFailure("broken", `${url.host} closed the connection early.`);
}
