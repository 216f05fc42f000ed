import { A2AError, invalidField, toA2AError } from "../../protocol/error.ts";
import { parseJson, requireJson } from "../body/json-body.ts";
import { readRequestBody } from "../body/request-body.ts";
import type { Exchange, Headers, PullSource, Reply } from "../exchange.ts";
import { authenticateOperator } from "../operator/operator-access.ts";
import { errorReply, PRIVATE_HEADERS, privateJson } from "../operator/operator-reply.ts";
import type { ReservedPaths } from "../operator/reserved-paths.ts";
import type { TransportEnvironment } from "../options.ts";
import type { ConsoleSessions } from "./console-sessions.ts";
import { openSession } from "./open-session.ts";

/** A request of the page to the agent that it inspects. */
export interface ForwardedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
}

export interface ForwardPathOptions {
  readonly sessions: ConsoleSessions;
  readonly version: string;
  /** The URL of the inspected agent. */
  readonly agent: string;
  /** Sends a request, if its address is allowed. Rejects with an `Error` for people. */
  readonly forward: (request: ForwardedRequest) => Promise<Response>;
}

const BASE = "/operator/v1/";
const MAX_BODY = 16_000_000;
/** The methods of the bindings. */
const METHODS: readonly string[] = ["GET", "POST", "DELETE"];
/** Headers of answers that the page gets. No cookie, and nothing that makes the browser do something. */
const PASSED: readonly string[] = [
  ...["content-type", "a2a-version", "a2a-extensions", "retry-after", "etag", "last-modified", "cache-control", "vary"],
  ...["date", "age", "www-authenticate", "link"],
];

/** The paths of a console that inspects one agent: sessions, and `POST /operator/v1/forward`, which sends a request of the page to that agent. */
export function createForwardPath(options: ForwardPathOptions): ReservedPaths {
  const { sessions, version, agent } = options;
  return {
    accepts: ({ target }) => target.startsWith(BASE),
    async handle(exchange, environment) {
      try {
        if (exchange.fault !== undefined) throw new A2AError("invalid-request", exchange.fault.message);
        const path = exchange.target.slice(BASE.length);
        if (path === "console-sessions") return await openSession(sessions, exchange, environment);
        await authenticateOperator({ sessions }, exchange, environment);
        if (path === "forward") return await forward(options, exchange, environment);
        if (path === "server") return privateJson(200, { version, inspects: agent, agents: [], counts: {} });
        throw new A2AError("method-not-found", "Path not found");
      } catch (thrown) {
        const error = toA2AError(thrown);
        if (error.code === "internal")
          environment.logger.error("A request of the console failed", { error: error.cause });
        return errorReply(error);
      }
    },
  };
}

async function forward(
  options: ForwardPathOptions,
  exchange: Exchange,
  environment: TransportEnvironment,
): Promise<Reply> {
  if (exchange.method !== "POST") throw new A2AError("method-not-allowed", "This path supports only POST");
  requireJson(exchange);
  const request = requestFrom(parseJson(await readRequestBody(environment, exchange, MAX_BODY)));
  let response: Response;
  try {
    response = await options.forward({ ...request, signal: exchange.signal });
  } catch (error) {
    // Not an answer of the agent: the page reports it as a failed request.
    const message = error instanceof Error ? error.message : String(error);
    return privateJson(502, { error: { code: 502, status: "UNAVAILABLE", message } }, { "x-forward-failed": "1" });
  }
  const headers: Record<string, string> = {};
  for (const name of PASSED) {
    const value = response.headers.get(name);
    if (value !== null) headers[name] = value;
  }
  // The answer is for the page's own code: no browser may show it.
  const safe = { ...headers, ...PRIVATE_HEADERS, "content-disposition": "attachment" };
  return { status: response.status, headers: safe, source: sourceOf(response) };
}

/** `{ url, method, headers, body? }`. Throws `invalid-params`. */
function requestFrom(value: unknown): Omit<ForwardedRequest, "signal"> {
  const members = new Map<string, unknown>(
    typeof value === "object" && value !== null && !Array.isArray(value) ? Object.entries(value) : [],
  );
  const [url, method, headers, body] = ["url", "method", "headers", "body"].map((name) => members.get(name));
  if (typeof url !== "string") throw invalidField("url", "is required");
  if (typeof method !== "string" || !METHODS.includes(method))
    throw invalidField("method", `must be one of ${METHODS.join(", ")}`);
  if (body !== undefined && typeof body !== "string") throw invalidField("body", "must be a string");
  return { url, method, headers: headersFrom(headers), body };
}

const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]{1,100}$/i;
/** Headers that belong to a connection, or that would name another caller. */
const OWN_HEADERS =
  /^(?:host|connection|content-length|transfer-encoding|upgrade|te|trailer|cookie|origin|referer|expect)$/i;

function headersFrom(value: unknown): Headers {
  const entries = typeof value === "object" && value !== null ? Object.entries(value) : [];
  const headers: Record<string, string> = {};
  for (const [name, text] of entries) {
    if (!HEADER_NAME.test(name) || typeof text !== "string" || /[\r\n\0]/.test(text))
      throw invalidField("headers", "must be an object of names and values");
    if (!OWN_HEADERS.test(name)) headers[name] = text;
  }
  return headers;
}

/** The body of an answer, piece by piece. */
function sourceOf({ body }: Response): PullSource {
  const reader: ReadableStreamDefaultReader<Uint8Array> | undefined = body?.getReader();
  return {
    async pull() {
      const read = await reader?.read();
      return read?.value === undefined ? undefined : new Uint8Array(read.value);
    },
    cancel: () => void reader?.cancel().catch(() => {}),
  };
}
