import type { TaskContext } from "../../engine/agent/agent.ts";
import { writeTraceparent } from "../../protocol/trace-context.ts";
import type { ProcessSettings } from "./process-options.ts";

/** The environment of a program: allowed variables of the server, those of the options, and the ids of the task. Nothing else is passed on. */
export function environmentOf(
  task: Pick<TaskContext, "id" | "contextId" | "attempt" | "trace">,
  { env, inherit }: Pick<ProcessSettings, "env" | "inherit">,
): Readonly<Record<string, string>> {
  const inherited = inherit.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const { trace } = task;
  return {
    // Standard input is a socket. Without this variable bash takes that for a remote login and runs the user's .bashrc.
    SHLVL: "1",
    ...Object.fromEntries(inherited),
    ...env,
    PALAVER_TASK_ID: task.id,
    PALAVER_CONTEXT_ID: task.contextId,
    PALAVER_ATTEMPT: String(task.attempt),
    ...(trace !== undefined && { TRACEPARENT: writeTraceparent(trace) }),
    ...(trace?.state !== undefined && { TRACESTATE: trace.state }),
  };
}
