import { Agent, request } from "node:http";
import { HEADERS, sendBody } from "./requests.ts";

export interface PacedCallsOptions {
  readonly port: number;
  readonly seconds: number;
  readonly perSecond: number;
  /** The caller's name for the server's rate limit. */
  readonly caller: string;
  readonly signal: AbortSignal;
}

export interface PacedCalls {
  /** Milliseconds, of the calls that were answered with 200. */
  readonly latencies: readonly number[];
  /** Number of calls that were answered with 429. */
  readonly refused: number;
}

const TICK_MS = 5;

/** Sends at a constant rate, without waiting for earlier responses. Rejects on any status except 200 and 429. */
export async function pacedCalls(options: PacedCallsOptions): Promise<PacedCalls> {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const latencies: number[] = [];
  let refused = 0;
  const calls: Promise<void>[] = [];
  const start = performance.now();
  try {
    for (let due = 0; ; ) {
      options.signal.throwIfAborted();
      const elapsed = performance.now() - start;
      for (due = Math.floor((elapsed * options.perSecond) / 1000); calls.length < due; ) {
        const sent = performance.now();
        const call = ask(options, agent).then((status) => {
          if (status === 200) latencies.push(performance.now() - sent);
          else if (status === 429) refused += 1;
          else throw new Error(`The server answered HTTP ${status}.`);
        });
        call.catch(() => undefined);
        calls.push(call);
      }
      if (elapsed >= options.seconds * 1000) break;
      await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    }
    await Promise.all(calls);
    return { latencies, refused };
  } finally {
    agent.destroy();
  }
}

function ask({ port, caller, signal }: PacedCallsOptions, agent: Agent): Promise<number> {
  const headers = { ...HEADERS, "X-Caller": caller };
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: "127.0.0.1", port, method: "POST", path: "/", headers, agent, signal },
      (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
        response.on("error", reject);
      },
    );
    outgoing.on("error", reject);
    outgoing.end(sendBody({ kind: "answer" }));
  });
}
