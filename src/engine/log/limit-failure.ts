import { TaskFailure } from "../agent/task-failure.ts";

/** The failure of a run that exceeds a limit. `rule` states the limit: "a task may have at most 10 artifacts (maxArtifacts)". */
export function limitFailure(code: string, rule: string): TaskFailure {
  return new TaskFailure(`Limit exceeded: ${rule}.`, { code });
}
