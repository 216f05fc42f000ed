import type { CallerOptions, Outcome, Stream } from "../dialect-client.ts";
import { EventSource, type HttpAnswer, type HttpRequest, sendHttp, typeOf, wholeAnswer } from "../http.ts";
import type { Fields, StreamEvent } from "../neutral.ts";
import { type Edition, REFUSALS, type Refusal } from "../refusals.ts";
import { wrong } from "../strict.ts";
import { checkStreamHeaders, frameStream } from "./frame-stream.ts";

export interface RestClientOptions {
  /** The prefix of all paths. */
  readonly base: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The content type of request bodies and of all responses except streams. */
  readonly mediaType: string;
  readonly callerOptions: CallerOptions;
  readonly edition: Edition;
  /** Reads the body of an error response. */
  readError(value: unknown, status: number): Refusal;
}

export interface RestRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly body?: Fields;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface RestClient {
  call<T>(request: RestRequest, read: (body: unknown) => T): Promise<Outcome<T>>;
  open(request: RestRequest, read: (data: unknown) => StreamEvent): Promise<Outcome<Stream>>;
}

export function createRestClient(options: RestClientOptions): RestClient {
  const { base, mediaType, callerOptions, edition, readError } = options;
  const httpRequest = (request: RestRequest): HttpRequest => {
    const { method, path, query = {}, body, headers } = request;
    const parameters = new URLSearchParams();
    for (const [name, value] of Object.entries(query)) if (value !== undefined) parameters.append(name, String(value));
    const search = parameters.size === 0 ? "" : `?${parameters.toString()}`;
    return {
      method,
      url: `${base}${path}${search}`,
      headers: { ...(body !== undefined && { "content-type": mediaType }), ...options.headers, ...headers },
      ...(body !== undefined && { body: JSON.stringify(callerOptions.alter?.(body) ?? body) }),
    };
  };
  const answerOf = <T>(http: HttpAnswer, read: (body: unknown) => T): Outcome<T> => {
    if (typeOf(http) !== mediaType) wrong("content-type", `must be ${mediaType}`, `${typeOf(http)} ${http.text}`);
    const body: unknown = JSON.parse(http.text);
    if (http.status === 200) return { ok: true, value: read(body), http };
    const refusal = readError(body, http.status);
    const expected = REFUSALS[refusal.name].http[edition];
    if (http.status !== expected) wrong("HTTP status", `must be ${expected} for ${refusal.name}`, http.status);
    return { ok: false, refusal, http };
  };
  return {
    async call(request, read) {
      return answerOf(await wholeAnswer(await sendHttp(httpRequest(request))), read);
    },
    async open(request, read) {
      const response = await sendHttp(httpRequest(request));
      if (response.status !== 200) {
        return answerOf<Stream>(await wholeAnswer(response), () => wrong("A stream", "was not opened"));
      }
      checkStreamHeaders(response);
      const source = new EventSource(response);
      const first = await source.next();
      if (first === undefined) return wrong("A stream", "has no first event");
      const http: HttpAnswer = { status: response.status, headers: response.headers, text: first.data };
      const readData = (data: string): StreamEvent => read(JSON.parse(data));
      return { ok: true, value: frameStream(source, first, { read: readData }), http };
    },
  };
}

/** The headers of every request. */
export function headersOf(
  callerOptions: CallerOptions,
  version: string | undefined,
  extensionsHeader: string,
): Record<string, string> {
  const claimed = callerOptions.version === undefined ? version : callerOptions.version;
  return {
    ...(claimed !== undefined && claimed !== null && { "a2a-version": claimed }),
    ...(callerOptions.token !== undefined && { authorization: `Bearer ${callerOptions.token}` }),
    ...(callerOptions.extensions !== undefined && { [extensionsHeader]: callerOptions.extensions.join(", ") }),
    ...callerOptions.headers,
  };
}
