import type { Redaction } from "../output/redact.ts";

/** What is logged, and where. */
export interface DebugFetchOptions {
  readonly fetch: typeof fetch;
  readonly redaction: Redaction;
  readonly now: () => number;
  /** Receives one line. */
  readonly log: (line: string) => void;
}

/**
 * A `fetch` that logs requests and responses, line by line and without secrets: `[1] > POST https://…`, `[1] < 200 OK after 12 ms`. The
 * number tells concurrent requests apart.
 */
export function createDebugFetch({ fetch: send, redaction, now, log }: DebugFetchOptions): typeof fetch {
  let requests = 0;
  return async (input, init) => {
    const request = new Request(input, init);
    const number = ++requests;
    const started = now();
    const logLine = (sign: string, text: string): void => log(`[${number}] ${sign} ${text}`);
    logLine(">", `${request.method} ${redaction.text(request.url)}`);
    for (const [name, value] of request.headers) logLine(">", `${name}: ${redaction.header(name, value)}`);
    if (typeof init?.body === "string") logLine(">", redaction.text(init.body));
    try {
      const response = await send(input, init);
      logLine("<", `${response.status} ${response.statusText} after ${now() - started} ms`);
      for (const [name, value] of response.headers) logLine("<", `${name}: ${redaction.header(name, value)}`);
      return withLoggedBody(response, (line) => logLine("<", redaction.text(line)));
    } catch (error) {
      logLine("!", redaction.text(reasonOf(error)));
      throw error;
    }
  };
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { cause } = error;
  return cause instanceof Error ? `${error.message}: ${cause.message}` : error.message;
}

/** The longest logged line in characters: a body may be a whole file. */
const LONGEST_LINE = 20_000;

/** The same response; its body is logged while it is read. */
function withLoggedBody(response: Response, logLine: (line: string) => void): Response {
  if (response.body === null) return response;
  const decoder = new TextDecoder();
  let rest = "";
  const logLines = (text: string): void => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line !== "") logLine(line.slice(0, LONGEST_LINE));
    if (rest.length > LONGEST_LINE) {
      logLine(rest.slice(0, LONGEST_LINE));
      rest = "";
    }
  };
  const body = response.body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        logLines(decoder.decode(chunk, { stream: true }));
        controller.enqueue(chunk);
      },
      flush() {
        logLines(decoder.decode());
        if (rest !== "") logLine(rest);
      },
    }),
  );
  const { status, statusText, headers, url, redirected } = response;
  const copy = new Response(body, { status, statusText, headers });
  // `url` cannot be set by the constructor of `Response`.
  Object.defineProperties(copy, { url: { value: url }, redirected: { value: redirected } });
  return copy;
}
