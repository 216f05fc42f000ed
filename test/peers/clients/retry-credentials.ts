/** Answers a refusal with credentials and keeps using them, with the hook that both SDK releases have for this. */
export function retryCredentials(credentials: string): {
  headers(): Promise<Record<string, string>>;
  shouldRetryWithHeaders(request: RequestInit, response: Response): Promise<Record<string, string> | undefined>;
  onSuccessfulRetry(headers: Record<string, string>): Promise<void>;
} {
  let proven: Record<string, string> = {};
  return {
    headers: async () => proven,
    shouldRetryWithHeaders: async (_request, response) =>
      response.status === 401 && response.headers.has("www-authenticate")
        ? { authorization: `Bearer ${credentials}` }
        : undefined,
    onSuccessfulRetry: async (headers) => {
      proven = headers;
    },
  };
}
