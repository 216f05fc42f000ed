import { Agent, tool } from "@openai/agents";
import { fromOpenAIAgents } from "palaver/openai-agents";
import { z } from "zod";

const weather = tool({
  name: "weather",
  description: "The weather of a city.",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 21 }),
});
const meteorologist = new Agent({
  name: "Meteorologist",
  instructions: "Answer in one sentence.",
  model: "gpt-5",
  tools: [weather],
});

export default fromOpenAIAgents(meteorologist, {
  name: "Meteorologist",
  description: "Knows the weather.",
  version: "1.0.0",
});
