import { type Clock, createClock } from "../../internal/clock.ts";
import { createDeadline } from "./abort.ts";
import type { HttpOptions } from "./contract.ts";
import { RemoteError } from "./errors.ts";
import { HeaderFields } from "./header-fields.ts";
import { exchange, readAll, readText } from "./http.ts";
import { shown } from "./redirect.ts";
import { type HttpResponse, senderOf } from "./send.ts";
import { guardOf } from "./url-guard.ts";

/** The response to a request for a document. */
export interface DocumentAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The final URL, after redirects. */
  readonly url: string;
  readonly text: string;
}

/** How to fetch a document such as a card, a key set or a token. */
export interface FetchOptions extends HttpOptions {
  /** Aborts the request. */
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the whole response, including its body. Default 30 000. */
  readonly timeout?: number | undefined;
  /** The longest response in characters. Default 1 Mi. */
  readonly maxLength?: number | undefined;
  /** Replaces the system clock, for tests. */
  readonly clock?: Clock | undefined;
}

/** One request for a document. */
export interface FetchRequest {
  readonly method?: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A GET without secrets: redirects to another origin are followed, without its headers. Default false. */
  readonly isPublic?: boolean;
}

/** Characters: the default of `maxLength`. */
const MAX_LENGTH = 1024 * 1024;

/**
 * Fetches a whole document: a card, keys or a token. Resolves with any HTTP status. Rejects with `network`, `timeout`, `aborted`,
 * `blocked-url` or `response-too-large`.
 */
export async function fetchDocument(
  url: URL,
  request: FetchRequest,
  options: FetchOptions = {},
): Promise<DocumentAnswer> {
  const { signal, timeout = 30_000, maxLength = MAX_LENGTH, clock = createClock() } = options;
  const deadline = createDeadline(clock, { signal, timeout });
  const settings = { send: senderOf(options), guard: guardOf(options.guard) };
  const { method = "GET", body, isPublic } = request;
  const headers = new HeaderFields(request.headers);
  try {
    deadline.signal.throwIfAborted();
    const response = await exchange(settings, { method, url, headers, body, isPublic, signal: deadline.signal });
    checkLength(response, url, maxLength);
    const text = await readAll(readText(response, { signal: deadline.signal }), maxLength);
    return { status: response.status, headers: response.headers, url: response.url || url.href, text };
  } finally {
    deadline.release();
  }
}

/** Rejects a response whose `Content-Length` is too large before reading it. */
function checkLength(response: HttpResponse, url: URL, maxLength: number): void {
  // A character takes at most 4 bytes in UTF-8.
  if (Number(response.headers.get("content-length") ?? 0) <= maxLength * 4) return;
  // Not awaited: the result does not matter.
  response.body?.cancel().catch(() => {});
  throw new RemoteError("response-too-large", `The response of ${shown(url)} has more than ${maxLength} characters.`);
}

/** Parses a response as a JSON object; `undefined` if it is something else. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // Safe: an object that is not an array has members by name.
    return isObject(value) ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    // Usually an HTML page.
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
