/** One HTTP request. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly url: URL;
  readonly headers: Headers;
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
  /**
   * A GET for a public document, with nothing secret in its URL: a redirect may lead it to another origin, which receives `Accept` and
   * `A2A-Version` only. Default false: redirects are followed within the origin.
   */
  readonly isPublic?: boolean | undefined;
}
