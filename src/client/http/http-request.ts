/** One HTTP request. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: URL;
  readonly headers: Headers;
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined;
  readonly signal: AbortSignal;
  /**
   * A GET for a public document without secrets in its URL. Redirects to another origin are followed, with only the headers `Accept` and `A2A-Version`.
   * Default false: redirects are followed only within the origin.
   */
  readonly isPublic?: boolean | undefined;
}
