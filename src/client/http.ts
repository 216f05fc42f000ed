import { untilAborted } from "./abort.ts";
import { RemoteError } from "./errors.ts";
import type { ClientSettings } from "./settings.ts";

/** One request as it goes out. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: URL;
  readonly headers: Headers;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

type HttpSettings = Pick<ClientSettings, "fetch" | "guard">;

const MAX_REDIRECTIONS = 5;
const REDIRECTIONS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Sends a request and gives the answer's head. What `fetch` throws comes as `network`, what the signal was aborted with as that. */
export async function exchange(settings: HttpSettings, request: HttpRequest): Promise<Response> {
  if (settings.guard === undefined) return send(settings, request, "follow");
  let { url, headers } = request;
  for (let followed = 0; followed <= MAX_REDIRECTIONS; followed++) {
    await settings.guard(url);
    const response = await send(settings, { ...request, url, headers }, "manual");
    if (response.type === "opaqueredirect") {
      throw new RemoteError("blocked-url", `${shown(url)} redirects, and where to cannot be seen here.`);
    }
    const location = REDIRECTIONS.has(response.status) ? response.headers.get("location") : null;
    if (location === null) return response;
    discard(response);
    const target = URL.parse(location, url.href);
    if (target === null) throw new RemoteError("blocked-url", `${shown(url)} redirects to what is no address.`);
    if (request.method !== "GET" && response.status < 307) {
      throw new RemoteError("blocked-url", `${shown(url)} redirects a ${request.method} to ${shown(target)}.`);
    }
    if (target.origin !== url.origin) headers = impersonal(headers);
    url = target;
  }
  throw new RemoteError("blocked-url", `${shown(request.url)} redirects more than ${MAX_REDIRECTIONS} times.`);
}

async function send(settings: HttpSettings, request: HttpRequest, redirect: "follow" | "manual"): Promise<Response> {
  const { method, url, headers, body, signal } = request;
  const init: RequestInit = { method, headers, redirect, signal, ...(body !== undefined && { body }) };
  try {
    return await untilAborted(settings.fetch(url.href, init), signal);
  } catch (thrown) {
    throw brokenBy(thrown, url, signal);
  }
}

/** Names a URL without what may be secret in it. */
export function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

function brokenBy(thrown: unknown, url: URL, signal: AbortSignal): RemoteError {
  if (signal.aborted && signal.reason instanceof RemoteError) return signal.reason;
  if (thrown instanceof RemoteError) return thrown;
  return new RemoteError("network", `${shown(url)} could not be reached: ${wordsOf(thrown)}`, { cause: thrown });
}

/** What is wrong stands mostly in the cause: `fetch failed` says nothing. */
function wordsOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const { cause } = thrown;
  return cause instanceof Error && cause.message !== "" ? `${thrown.message} (${cause.message})` : thrown.message;
}

/** What another origin may be told. Any header not known to be harmless may be a key. */
const IMPERSONAL = ["accept", "content-type", "a2a-version", "a2a-extensions", "x-a2a-extensions", "last-event-id"];

function impersonal(headers: Headers): Headers {
  const kept = new Headers();
  for (const name of IMPERSONAL) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept;
}

/** Says that nobody reads the answer, so that its connection is free again. */
export function discard(response: Response): void {
  // Not waited for: whoever shares the body with us may keep it open.
  response.body?.cancel().catch(() => {});
}

/** The pieces of an answer's body, as text. */
export interface TextReader {
  /** `undefined` at the end. */
  next(): Promise<string | undefined>;
  cancel(): void;
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Told of every piece that arrives. */
  readonly arrived?: () => void;
}

/** Reads UTF-8, wherever the pieces are cut. A connection that breaks is thrown as `network`. */
export function readText(response: Response, { signal, arrived }: ReadOptions): TextReader {
  const url = response.url === "" ? undefined : new URL(response.url);
  const body: ReadableStream<Uint8Array> | null = response.body;
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let ended = reader === undefined;
  const cancel = (): void => {
    ended = true;
    reader?.cancel().catch(() => {});
  };
  return {
    async next() {
      while (!ended && reader !== undefined) {
        const { done, value } = await untilAborted(reader.read(), signal).catch((thrown: unknown) => {
          cancel();
          if (signal.aborted && signal.reason instanceof RemoteError) throw signal.reason;
          const where = url === undefined ? "the agent" : shown(url);
          const text = `The connection to ${where} broke: ${wordsOf(thrown)}`;
          throw new RemoteError("network", text, { cause: thrown });
        });
        arrived?.();
        ended = done;
        const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
        if (text !== "") return text;
      }
      return undefined;
    },
    cancel,
  };
}

/** A reader that gives this text before all else. */
export function startingWith(text: string, reader: TextReader): TextReader {
  let first: string | undefined = text;
  return {
    async next() {
      const piece = first ?? (await reader.next());
      first = undefined;
      return piece;
    },
    cancel: reader.cancel,
  };
}

/** Everything that is left, if that is not too much. */
export async function readAll(reader: TextReader, maxLength: number): Promise<string> {
  let text = "";
  for (let piece = await reader.next(); piece !== undefined; piece = await reader.next()) {
    text += piece;
    if (text.length <= maxLength) continue;
    reader.cancel();
    throw new RemoteError("response-too-large", `The agent's answer has more than ${maxLength} bytes.`);
  }
  return text;
}
