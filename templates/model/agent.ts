import type { Agent } from "palaver";
import { type Model, modelAgent, scriptedModel } from "palaver/models";

/** The agent with a model of your choice; tests pass their own. */
export function createAssistant(model: Model | string): Agent {
  return modelAgent({
    name: "Assistant",
    description: "Answers questions and remembers the conversation.",
    version: "0.0.1",
    model,
    instructions: "You are a friendly assistant. Answer in one or two sentences.",
    skills: [
      { id: "chat", name: "Chat", description: "Answers questions.", tags: ["chat"], examples: ["What is A2A?"] },
    ],
  });
}

/** Stands for a language model until you choose one: see README.md. */
const placeholder = scriptedModel((messages) => {
  const count = messages.filter(({ role }) => role === "user").length;
  return { text: `This is message ${count} of our conversation. Set MODEL to get answers of a language model.` };
});

export default createAssistant(process.env["MODEL"] ?? placeholder);
