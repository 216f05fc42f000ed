import type { TaskContext } from "../../engine/agent/agent.ts";
import { writeTraceparent } from "../../protocol/trace-context.ts";
import type { ProcessSettings } from "./process-options.ts";

/** Allowed variables of the server, and those of the options. Nothing else is passed on. */
export function allowedVariables({
  env,
  inherit,
}: Pick<ProcessSettings, "env" | "inherit">): Readonly<Record<string, string>> {
  const inherited = inherit.flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    // Standard input is a socket. Without this variable bash takes that for a remote login and runs the user's .bashrc.
    SHLVL: "1",
    ...Object.fromEntries(inherited),
    ...env,
  };
}

/** The environment of the program of a task: allowed variables, and the ids of the task. */
export function environmentOf(
  task: Pick<TaskContext, "id" | "contextId" | "attempt" | "trace">,
  settings: Pick<ProcessSettings, "env" | "inherit">,
): Readonly<Record<string, string>> {
  const { trace } = task;
  return {
    ...allowedVariables(settings),
    PALAVER_TASK_ID: task.id,
    PALAVER_CONTEXT_ID: task.contextId,
    PALAVER_ATTEMPT: String(task.attempt),
    ...(trace !== undefined && { TRACEPARENT: writeTraceparent(trace) }),
    ...(trace?.state !== undefined && { TRACESTATE: trace.state }),
  };
}
