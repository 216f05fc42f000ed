/** One request as it is sent: the part of `RequestInit` that the client uses. */
export interface SentRequest {
  readonly method: string;
  readonly headers: Headers;
  /** Text, or bytes. */
  readonly body?: string | Uint8Array<ArrayBuffer>;
  /** `manual`: a redirect is returned like any other response. */
  readonly redirect: "follow" | "manual";
  readonly signal: AbortSignal;
}

/** The body of a response: the part of `ReadableStream` that the client uses. */
export interface ResponseBody extends AsyncIterable<Uint8Array> {
  getReader(): BodyReader;
  cancel(): Promise<void>;
}

/** Reads a body piece by piece. */
export interface BodyReader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}

/** A response: the part of `Response` that the client uses. */
export interface HttpResponse {
  readonly status: number;
  readonly statusText: string;
  /** The status is 200 to 299. */
  readonly ok: boolean;
  /** `opaqueredirect`: a browser that does not show where a redirect leads. */
  readonly type: string;
  readonly headers: Headers;
  /** The final URL, or empty. */
  readonly url: string;
  readonly body: ResponseBody | null;
}

/** Sends one request and resolves with the response, before its body is read. */
export type Send = (url: string, request: SentRequest) => Promise<HttpResponse>;

interface Ways {
  readonly send?: Send | undefined;
  readonly fetch?: typeof fetch | undefined;
}

/** How requests are sent: by `send`, else by `fetch`. */
export function senderOf({ send, fetch: own }: Ways): Send {
  if (send !== undefined) return send;
  // Looked up for each request: the global `fetch` may be replaced. Browsers reject it with a receiver other than the global object.
  return (url, request) => {
    const init = { ...request, headers: new Headers(request.headers) };
    return own === undefined ? fetch(url, init) : own(url, init);
  };
}
