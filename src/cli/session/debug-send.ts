import type { HttpResponse, ResponseBody, Send } from "../../client/http/send.ts";
import type { Redaction } from "../output/redact.ts";

/** What is logged, and where. */
export interface DebugSendOptions {
  readonly send: Send;
  readonly redaction: Redaction;
  readonly now: () => number;
  /** Receives one line. */
  readonly log: (line: string) => void;
}

/**
 * A `Send` that logs requests and responses, line by line and without secrets: `[1] > POST https://…`, `[1] < 200 OK after 12 ms`. The
 * number tells concurrent requests apart.
 */
export function debugSend({ send, redaction, now, log }: DebugSendOptions): Send {
  let requests = 0;
  return async (url, request) => {
    const number = ++requests;
    const started = now();
    const logLine = (sign: string, text: string): void => log(`[${number}] ${sign} ${text}`);
    logLine(">", `${request.method} ${redaction.text(url)}`);
    for (const [name, value] of request.headers) logLine(">", `${name}: ${redaction.header(name, value)}`);
    if (typeof request.body === "string") logLine(">", redaction.text(request.body));
    try {
      const response = await send(url, request);
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
function withLoggedBody(response: HttpResponse, logLine: (line: string) => void): HttpResponse {
  if (response.body === null) return response;
  const { status, statusText, ok, type, headers, url } = response;
  return { status, statusText, ok, type, headers, url, body: loggedBody(response.body, logLine) };
}

function loggedBody(body: ResponseBody, logLine: (line: string) => void): ResponseBody {
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
  const logEnd = (): void => {
    logLines(decoder.decode());
    if (rest !== "") logLine(rest);
    rest = "";
  };
  const cancel = (): Promise<void> => body.cancel();
  return {
    cancel,
    getReader() {
      const reader = body.getReader();
      return {
        async read() {
          const piece = await reader.read();
          if (piece.done) logEnd();
          else logLines(decoder.decode(piece.value, { stream: true }));
          return piece;
        },
        cancel: () => reader.cancel(),
      };
    },
    async *[Symbol.asyncIterator]() {
      for await (const piece of body) {
        logLines(decoder.decode(piece, { stream: true }));
        yield piece;
      }
      logEnd();
    },
  };
}
