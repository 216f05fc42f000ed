import { createAgent, tool } from "langchain";
import { fromLangGraph } from "palaver/langgraph";
import { z } from "zod";

const weather = tool(async ({ city }) => ({ city, degrees: 21 }), {
  name: "weather",
  description: "The weather of a city.",
  schema: z.object({ city: z.string() }),
});
const meteorologist = createAgent({ model: "openai:gpt-5", systemPrompt: "Answer in one sentence.", tools: [weather] });

export default fromLangGraph(meteorologist, {
  name: "Meteorologist",
  description: "Knows the weather.",
  version: "1.0.0",
});
