import { A2AError } from "../../protocol/error.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { ClientCodec } from "../../wire/client/client-codec.ts";
import { codeOfStatus } from "../../wire/error-table.ts";
import { type RemoteDetail, RemoteError, remoteErrorOf } from "./errors.ts";
import type { HttpResponse } from "./send.ts";

/** Status and headers of a response. */
export interface AnswerHead {
  readonly status: number;
  /** In lower case; empty if absent. */
  readonly contentType: string;
  /** Seconds. */
  readonly retryAfter: number | undefined;
  /** The value of `WWW-Authenticate`. */
  readonly authenticate: string | undefined;
  /** The token of the next page of a list, from a `Link` header. */
  readonly nextPageToken?: string | undefined;
}

/** `now`: milliseconds since 1970, for a `Retry-After` that is a date. */
export function headOf(response: HttpResponse, now: number): AnswerHead {
  const { status, headers } = response;
  return {
    status,
    contentType: (headers.get("content-type") ?? "").toLowerCase(),
    retryAfter: secondsUntil(headers.get("retry-after"), now),
    authenticate: headers.get("www-authenticate") ?? undefined,
    nextPageToken: nextPageToken(headers.get("link")),
  };
}

/** The token in `<?pageToken=…>; rel="next"`. Lists of 0.3 have no other place for it. */
function nextPageToken(link: string | null): string | undefined {
  const target = link === null ? undefined : /<([^<>]*)>\s*;\s*rel="?next"?/i.exec(link)?.[1];
  const query = target?.split("?", 2)[1];
  return (query !== undefined && new URLSearchParams(query).get("pageToken")) || undefined;
}

/** Parses `Retry-After`: seconds or a date. */
function secondsUntil(value: string | null, now: number): number | undefined {
  if (value === null) return undefined;
  if (/^\d{1,9}$/.test(value.trim())) return Number(value);
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : Math.max(0, (time - now) / 1000);
}

type JsonRecord = Readonly<Record<string, unknown>>;

function isRecord(value: unknown): value is JsonRecord {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Parses a response as JSON; `undefined` if it is empty. Throws a `RemoteError` if it is not JSON. */
export function parseAnswer(text: string, head: AnswerHead): unknown {
  if (text.trim() === "") return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable(text, head);
  }
}

/** HTTP statuses that are clear without a body. With others, a page from a proxy says nothing about the agent. */
const CLEAR_STATUSES: ReadonlySet<number> = new Set([401, 403, 405, 413, 415, 429]);
/** Characters of a foreign text that an error message shows. */
const SHOWN = 200;

/** Usually the page of a proxy or of another program at this URL. Its beginning is shown, because it often says what is wrong. */
function unreadable(text: string, head: AnswerHead): RemoteError {
  const { status, contentType } = head;
  const kind = contentType.split(";", 1)[0] || "something without a content type";
  const words = plainWords(text);
  const message = `The agent answered with HTTP ${status} and ${kind} instead of JSON${words === "" ? "." : `: ${words}`}`;
  return refusedBy(message, head, text.slice(0, 4096));
}

/** The error of a response that is not JSON, by its status. */
function refusedBy(message: string, head: AnswerHead, text?: string): RemoteError {
  const { status } = head;
  const isClear = CLEAR_STATUSES.has(status) || status >= 500;
  return new RemoteError(isClear ? codeOfStatus(status) : "invalid-agent-response", message, {
    remote: { ...detailOf(head), ...(text !== undefined && { text }) },
  });
}

/** The start of a page as text, without markup. */
function plainWords(text: string): string {
  const words = text
    .slice(0, 4096)
    .replaceAll(/<(script|style)\b[\s\S]*?(<\/\1>|$)/gi, " ")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
  return words.length > SHOWN ? `${words.slice(0, SHOWN)}…` : words;
}

function detailOf({ status, retryAfter, authenticate }: AnswerHead): RemoteDetail {
  return {
    httpStatus: status,
    ...(retryAfter !== undefined && { retryAfter }),
    ...(authenticate !== undefined && { authenticate }),
  };
}

/** Any 2xx: servers of REST 0.3 differ in which one they use. */
export function isSuccess({ status }: AnswerHead): boolean {
  return status >= 200 && status < 300;
}

/**
 * The error in a response: the `error` member of JSON-RPC, or the body of a REST response. `remote` has its details as the agent wrote
 * them.
 */
export function remoteErrorIn(codec: ClientCodec, value: unknown, head: AnswerHead): RemoteError {
  const error = codec.decodeError(value, head.status);
  const detail = isRecord(value) && isRecord(value["error"]) ? value["error"] : value;
  const remote: RemoteDetail = { ...detailOf(head), ...(isRecord(detail) && membersOf(detail)) };
  return remoteErrorOf(error, remote);
}

/** JSON-RPC codes are negative; a positive `code` is the HTTP status in an error of REST 1.0. */
function membersOf(error: JsonRecord): RemoteDetail {
  const { code, data } = error;
  const details = [data, error["details"]].flat().filter(isRecord);
  const reason = details.map((detail) => detail["reason"]).find((text) => typeof text === "string");
  return {
    ...(typeof code === "number" && code < 0 && { rpcCode: code }),
    ...(reason !== undefined && { reason }),
    // Safe: parsed from JSON.
    ...(data !== undefined && data !== null && { data: data as JsonValue }),
  };
}

/** The result of a JSON-RPC response. Throws its error, or `invalid-agent-response` if it is not a response to this request. */
export function openEnvelope(
  codec: ClientCodec,
  value: unknown,
  call: { readonly id: number; readonly head: AnswerHead },
): unknown {
  const { id, head } = call;
  const { error, result } = isRecord(value) ? value : {};
  if (error !== undefined && error !== null) throw remoteErrorIn(codec, error, head);
  if (!isRecord(value) || !("result" in value)) {
    throw isSuccess(head) ? noResponse(head) : refusedBy(codec.decodeError(value, head.status).message, head);
  }
  // A missing id is accepted: there is only one request.
  const answered = value["id"] ?? id;
  if (answered !== id && answered !== String(id)) {
    throw invalidAnswer("The agent's response has the id of another request.", head);
  }
  return result;
}

function noResponse(head: AnswerHead): RemoteError {
  return invalidAnswer("The agent's response is not a JSON-RPC response: it has neither a result nor an error.", head);
}

/** For an answer that is no valid answer of the protocol. */
export function invalidAnswer(message: string, head: AnswerHead): RemoteError {
  return new RemoteError("invalid-agent-response", message, { remote: detailOf(head) });
}

/** Runs a decoder and turns its errors into `RemoteError`s. */
export function reading<T>(read: () => T, head: AnswerHead): T {
  try {
    return read();
  } catch (thrown) {
    throw thrown instanceof A2AError ? remoteErrorOf(thrown, detailOf(head)) : thrown;
  }
}
