import { type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { Call, Dialect, Outcome } from "./dialects.ts";

export interface CallOptions {
  readonly dialect: Dialect;
  readonly signal: AbortSignal;
}

/** Milliseconds between two attempts. */
const PAUSE = 60;

/** Repeats a request until it gets a conclusive response. Only for idempotent requests. */
export async function callUntilAnswered(
  url: string,
  call: Call,
  { dialect, signal }: CallOptions,
): Promise<Exclude<Outcome, { kind: "again" }>> {
  for (;;) {
    const outcome = await callOnce(url, call, { dialect, signal });
    signal.throwIfAborted();
    if (outcome.kind !== "again") return outcome;
    await sleep(PAUSE, undefined, { signal });
  }
}

async function callOnce(url: string, call: Call, { dialect, signal }: CallOptions): Promise<Outcome> {
  try {
    const response = await post(url, call, { signal });
    return dialect.outcome(response.statusCode ?? 0, await text(response));
  } catch (error) {
    return { kind: "again", why: String(error) };
  }
}

export interface PostOptions {
  readonly signal: AbortSignal;
  /** Resume after the event with this number. */
  readonly after?: number | undefined;
}

/** Resolves with the head of the response. Every request uses its own connection. */
export function post(url: string, { path, body, headers }: Call, options: PostOptions): Promise<IncomingMessage> {
  const { signal, after } = options;
  const resume = after === undefined ? {} : { "last-event-id": String(after) };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url + path,
      { method: "POST", agent: false, signal, headers: { ...headers, ...resume } },
      resolve,
    );
    outgoing.on("error", reject);
    outgoing.end(JSON.stringify(body));
  });
}
