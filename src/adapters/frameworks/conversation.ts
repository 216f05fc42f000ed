import type { TaskContext } from "../../engine/agent/agent.ts";
import type { ModelMessage } from "../models/model-contract.ts";
import { currentMessage, historyMessages } from "../models/prompt.ts";
import type { AdapterOptions } from "./framework-options.ts";

/** A message of the conversation that an agent of a framework gets. */
export type ConversationMessage = Extract<ModelMessage, { readonly role: "user" | "assistant" }>;

/** The earlier messages of the conversation that the options allow, then the message of this turn. */
export async function conversationOf(
  task: TaskContext,
  { history, thread }: Pick<AdapterOptions, "history" | "thread">,
): Promise<readonly ConversationMessage[]> {
  const earlier = thread === "task" ? [] : await historyMessages(task, history);
  return [...earlier, currentMessage(task)].flatMap(conversationMessage);
}

/** Agents have a system prompt of their own, and some frameworks allow only one: the summary of older messages is a message of the user. */
function conversationMessage(message: ModelMessage): readonly ConversationMessage[] {
  if (message.role === "system") return [{ role: "user", content: [{ type: "text", text: message.content }] }];
  return message.role === "tool" ? [] : [message];
}
