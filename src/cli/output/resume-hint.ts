import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import type { Task } from "../../protocol/task.ts";
import { shellWord } from "../shell-words.ts";

/** The command that continues the task or conversation, for copying. `agentFlags` is `-a REF ` and similar options, or empty. */
export function resumeCommand({ id, contextId, status }: Task, agentFlags: string): string {
  if (isTerminal(status.state)) return `palaver send ${agentFlags}--context-id ${shellWord(contextId)} "<message>"`;
  if (isInterrupted(status.state)) return `palaver send ${agentFlags}--task-id ${shellWord(id)} "<reply>"`;
  return `palaver task get ${agentFlags}--task-id ${shellWord(id)} --wait`;
}
