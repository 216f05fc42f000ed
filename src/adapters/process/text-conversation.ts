import type { TaskContext } from "../../engine/agent/agent.ts";
import type { Child } from "./children/child.ts";
import type { Conversation } from "./conversation.ts";
import { createTextOutput } from "./text-output.ts";

/** Standard input is the text of the message, or its data as JSON; standard output is the result. */
export function textConversation(child: Child, task: TaskContext): Conversation {
  const text = createTextOutput();
  child.write(task.text !== "" || task.data === undefined ? task.text : JSON.stringify(task.data));
  child.endInput();
  const write = async (piece: string): Promise<void> => {
    if (piece !== "") await task.write(piece);
  };
  return {
    output: (chunk) => write(text.add(chunk)),
    end: () => write(text.end()),
    question: () => undefined,
  };
}
