import { A2AError } from "../../protocol/error.ts";
import type { Exchange, Reply } from "../exchange.ts";
import { DEADLINE_EXCEEDED, statusReply, trailersOf } from "./status.ts";

const UNITS: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1000, m: 1, u: 1e-3, n: 1e-6 };
/** Timers cannot wait longer. */
const MAX_MS = 2 ** 31 - 1;

/** The milliseconds of a `grpc-timeout`; `undefined` if there is none, or if it is longer than 24 days. */
export function timeoutOf(exchange: Exchange): number | undefined {
  const value = exchange.header("grpc-timeout");
  if (value === undefined) return undefined;
  const [, amount, unit = ""] = /^(\d{1,8})([HMSmun])$/.exec(value) ?? [];
  if (amount === undefined)
    throw new A2AError("invalid-request", "grpc-timeout must be up to 8 digits and one of H, M, S, m, u and n");
  const ms = Number(amount) * (UNITS[unit] ?? 1);
  return ms > MAX_MS ? undefined : ms;
}

/** Answers within `ms`, else with DEADLINE_EXCEEDED. This ends the call, never the task. */
export function within(ms: number, exchange: Exchange, answer: Promise<Reply>): Promise<Reply> {
  return new Promise((resolve) => {
    let expired = false;
    let open: Reply | undefined;
    const timer = setTimeout(() => {
      expired = true;
      exchange.abort?.();
      if (open === undefined) resolve(statusReply(DEADLINE_EXCEEDED));
      else cancel(open);
    }, ms);
    void answer.then((reply) => {
      if (expired) return cancel(reply);
      if (!("source" in reply)) {
        clearTimeout(timer);
        return resolve(reply);
      }
      open = reply;
      const { source } = reply;
      return resolve({
        ...reply,
        source: {
          pull: () => source.pull(),
          cancel() {
            clearTimeout(timer);
            source.cancel();
          },
          connected: (disconnect) => source.connected?.(disconnect),
        },
        trailers() {
          clearTimeout(timer);
          return expired ? trailersOf(DEADLINE_EXCEEDED) : (reply.trailers?.() ?? {});
        },
      });
    });
  });
}

function cancel(reply: Reply): void {
  if ("source" in reply) reply.source.cancel();
}
