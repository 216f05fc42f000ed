import { ToolLoopAgent, tool } from "ai";
import { fromAiSdk } from "palaver/ai-sdk";
import { z } from "zod";

const weather = tool({
  description: "The weather of a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => ({ city, degrees: 21 }),
});
const meteorologist = new ToolLoopAgent({
  model: "openai/gpt-5",
  instructions: "Answer in one sentence.",
  tools: { weather },
});

export default fromAiSdk(meteorologist, {
  name: "Meteorologist",
  description: "Knows the weather.",
  version: "1.0.0",
});
