import { untilAborted } from "./abort.ts";
import { RemoteError } from "./errors.ts";
import type { HttpRequest } from "./http-request.ts";
import { locationOf, MAX_REDIRECTS, publicHeaders, redirected, shown } from "./redirect.ts";
import type { HttpResponse, SentRequest } from "./send.ts";
import type { ClientSettings } from "./settings.ts";

type HttpSettings = Pick<ClientSettings, "send" | "guard">;

/**
 * Sends a request and resolves with the response, before its body is read. Errors of the connection become `network`; an abort rejects with the signal's
 * reason. Redirects are followed here, because `fetch` would send headers and bodies to other origins.
 */
export async function exchange(settings: HttpSettings, request: HttpRequest): Promise<HttpResponse> {
  let current = request;
  for (let followed = 0; followed <= MAX_REDIRECTS; followed++) {
    await settings.guard?.(current.url);
    const response = await send(settings, current, "manual");
    if (response.type === "opaqueredirect") return followUnseen(settings, current);
    const location = locationOf(response);
    if (location === undefined) return response;
    discard(response);
    current = redirected(current, response.status, location);
  }
  throw new RemoteError("blocked-url", `${shown(request.url)} redirects more than ${MAX_REDIRECTS} times.`);
}

/** Browsers do not reveal where a redirect leads. They may follow it only for a request that any origin may receive. */
async function followUnseen(settings: HttpSettings, request: HttpRequest): Promise<HttpResponse> {
  const { url, isPublic = false } = request;
  if (!isPublic || settings.guard !== undefined) {
    throw new RemoteError(
      "blocked-url",
      `${shown(url)} redirects, and browsers do not reveal where to. It was not followed.`,
    );
  }
  const response = await send(settings, { ...request, headers: publicHeaders(request.headers) }, "follow");
  if (url.protocol !== "https:" || !response.url.startsWith("http:")) return response;
  discard(response);
  throw new RemoteError(
    "blocked-url",
    `${shown(url)} redirects to ${new URL(response.url).origin}, without encryption.`,
  );
}

async function send(
  settings: HttpSettings,
  request: HttpRequest,
  redirect: "follow" | "manual",
): Promise<HttpResponse> {
  const { method, url, headers, body, signal } = request;
  const sent: SentRequest = { method, headers, redirect, signal, ...(body !== undefined && { body }) };
  try {
    return await untilAborted(settings.send(url.href, sent), signal);
  } catch (thrown) {
    throw brokenBy(thrown, url, signal);
  }
}

/** The reason of an abort is more precise than the error of the connection. */
function brokenBy(thrown: unknown, url: URL, signal: AbortSignal): RemoteError {
  if (signal.aborted && signal.reason instanceof RemoteError) return signal.reason;
  if (thrown instanceof RemoteError) return thrown;
  return new RemoteError("network", `${shown(url)} could not be reached: ${wordsOf(thrown)}`, { cause: thrown });
}

/** The message of an error and its cause: `fetch failed` alone says nothing. */
function wordsOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  // A name may have several addresses; the connection to each of them failed.
  if (thrown instanceof AggregateError && thrown.message === "") return wordsOf(thrown.errors[0]);
  const { cause } = thrown;
  return cause instanceof Error && cause.message !== "" ? `${thrown.message} (${cause.message})` : thrown.message;
}

/** Discards the body, so that the connection can be reused. */
export function discard(response: HttpResponse): void {
  // Not awaited: if the body is shared (tee), cancel may never resolve.
  response.body?.cancel().catch(() => {});
}

/** Reads a response body as text, in pieces. */
export interface TextReader {
  /** How many bytes have arrived. */
  readonly bytes: number;
  /** `undefined` at the end. */
  next(): Promise<string | undefined>;
  cancel(): void;
}

export interface ReadOptions {
  readonly signal: AbortSignal;
  /** Called for every piece that arrives. */
  readonly arrived?: () => void;
}

/** Reads a UTF-8 body, also if characters are split between pieces. Rejects with `network` if the connection breaks. */
export function readText(response: HttpResponse, { signal, arrived }: ReadOptions): TextReader {
  const url = response.url === "" ? undefined : new URL(response.url);
  const reader = response.body?.getReader();
  const decoder = new TextDecoder();
  let bytes = 0;
  let ended = reader === undefined;
  const cancel = (): void => {
    ended = true;
    reader?.cancel().catch(() => {});
  };
  return {
    get bytes() {
      return bytes;
    },
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
        bytes += value?.byteLength ?? 0;
        const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
        if (text !== "") return text;
      }
      return undefined;
    },
    cancel,
  };
}

/** A reader that returns this text first. */
export function startingWith(text: string, reader: TextReader): TextReader {
  let first: string | undefined = text;
  return {
    get bytes() {
      return reader.bytes;
    },
    async next() {
      const piece = first ?? (await reader.next());
      first = undefined;
      return piece;
    },
    cancel: reader.cancel,
  };
}

/** Reads the rest. Throws `response-too-large` if the whole body has more than `maxBytes` bytes. */
export async function readAll(reader: TextReader, maxBytes: number): Promise<string> {
  let text = "";
  for (let piece = await reader.next(); piece !== undefined; piece = await reader.next()) {
    text += piece;
    if (reader.bytes <= maxBytes) continue;
    reader.cancel();
    throw new RemoteError("response-too-large", `The agent's response has more than ${maxBytes} bytes.`);
  }
  return text;
}
