import type { MemorySaver } from "@langchain/langgraph";
import { createAgent, humanInTheLoopMiddleware, tool } from "langchain";
import { fromLangGraph } from "palaver/langgraph";
import { z } from "zod";
import { model } from "./lang-chain-model.ts";
import { reportTool } from "./scripted.ts";

const weather = tool(
  async ({ city }) => {
    await reportTool("weather");
    return { city, degrees: 21 };
  },
  { name: "weather", description: "The weather.", schema: z.object({ city: z.string() }) },
);
const pay = tool(
  async ({ amount }) => {
    await reportTool("pay");
    return { paid: amount };
  },
  { name: "pay", description: "Pays.", schema: z.object({ amount: z.number() }) },
);
const middleware = [humanInTheLoopMiddleware({ interruptOn: { pay: true } })] as const;

/** An agent of LangChain with two tools, with a checkpointer of its own or without. */
export function langGraphAssistant(checkpointer?: MemorySaver) {
  const graph = createAgent({ model, tools: [weather, pay], middleware, ...(checkpointer && { checkpointer }) });
  return fromLangGraph(graph, { name: "Assistant", description: "Helps.", version: "1" });
}
