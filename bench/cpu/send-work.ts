import { ECHO } from "../contenders.ts";
import { call } from "../load/call.ts";
import { sendBody } from "../load/requests.ts";
import { applyLoad } from "../load/wrk.ts";
import { ANSWER } from "../servers/workload.ts";
import type { CpuWork } from "./work.ts";

/** Callers send a message and wait for the finished task. */
export const sendWork: CpuWork = {
  name: "send",
  title: "Blocking send, 32 connections",
  unit: "send",
  bare: ECHO,
  limit: 2.5,
  prepare: prepareSends(false),
};

/** Makes the rounds of blocking sends. `reconnect`: a new connection for each. */
export function prepareSends(reconnect: boolean): CpuWork["prepare"] {
  return async (bench, { label, port }) => {
    // A refusal would be faster than a result.
    const { task } = await call(port, sendBody({ kind: "answer" }));
    if (task?.artifacts?.[0]?.parts[0]?.text !== ANSWER) throw new Error(`${label} returned an unexpected task.`);
    return (seconds, measured) =>
      measured(async () => {
        const script = { name: "send" } as const;
        const load = { port, seconds, connections: 32, signal: bench.signal, reconnect, script };
        return (await applyLoad(load)).requests;
      });
  };
}
