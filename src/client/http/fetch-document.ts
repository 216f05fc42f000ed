import { type Clock, createClock } from "../../internal/clock.ts";
import { createDeadline } from "./abort.ts";
import type { HttpOptions } from "./contract.ts";
import { RemoteError } from "./errors.ts";
import { exchange, readAll, readText } from "./http.ts";
import { shown } from "./redirect.ts";
import { guardOf } from "./url-guard.ts";

/** An answer to a request for a document. */
export interface DocumentAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** Where it came from in the end. */
  readonly url: string;
  readonly text: string;
}

export interface FetchOptions extends HttpOptions {
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds until it is given up, the body included. Default 30 000. */
  readonly timeout?: number | undefined;
  /** How much text an answer may have. Default 1 Mi characters. */
  readonly maxLength?: number | undefined;
  readonly clock?: Clock | undefined;
}

export interface FetchRequest {
  readonly method?: "GET" | "POST";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** A GET that a redirect may lead to another origin, without its own headers. Default false. */
  readonly isPublic?: boolean;
}

const MAX_LENGTH = 1024 * 1024;

/** Fetches something that is read as a whole: a card, keys, a token. Whatever its status is, it is an answer. */
export async function fetchDocument(
  url: URL,
  request: FetchRequest,
  options: FetchOptions = {},
): Promise<DocumentAnswer> {
  const { signal, timeout = 30_000, maxLength = MAX_LENGTH, clock = createClock() } = options;
  const deadline = createDeadline(clock, { signal, timeout });
  const settings = { fetch: options.fetch ?? ((input, init) => fetch(input, init)), guard: guardOf(options.guard) };
  const { method = "GET", body, isPublic } = request;
  const headers = new Headers(request.headers);
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

/** Spares the reading where the answer itself says that it is too long. */
function checkLength(response: Response, url: URL, maxLength: number): void {
  if (Number(response.headers.get("content-length") ?? 0) <= maxLength * 4) return;
  // Nobody waits for this to be done.
  response.body?.cancel().catch(() => {});
  throw new RemoteError("response-too-large", `What ${shown(url)} answers has more than ${maxLength} characters.`);
}

/** The JSON of an answer that should be an object; `undefined` where it is something else. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    // Safe: an object that is no list has members by name.
    return isObject(value) ? (value as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    // A page for people, mostly.
    return undefined;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
