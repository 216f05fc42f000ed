import { isInterrupted, isTerminal } from "../protocol/state.ts";
import type { Task } from "../protocol/task.ts";
import { shellWord } from "./shell-words.ts";

/** The command that goes on from here, ready to be copied. `agentFlag` is `-a REF `, or nothing where that is settled. */
export function resumeCommand({ id, contextId, status }: Task, agentFlag: string): string {
  if (isTerminal(status.state)) return `palaver send ${agentFlag}--context-id ${shellWord(contextId)} "<message>"`;
  if (isInterrupted(status.state)) return `palaver send ${agentFlag}--task-id ${shellWord(id)} "<reply>"`;
  return `palaver task get ${agentFlag}--task-id ${shellWord(id)} --wait`;
}
