import { MemorySaver } from "@langchain/langgraph";
import { createAgent, humanInTheLoopMiddleware, tool } from "langchain";
import { fromLangGraph } from "palaver/langgraph";
import { z } from "zod";
import { model } from "../support/lang-chain-model.ts";
import { reportTool } from "../support/scripted.ts";

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

const card = { name: "Assistant", description: "Helps.", version: "1" };

export default fromLangGraph(createAgent({ model, tools: [weather, pay], middleware }), card);

/** The same with a checkpointer of the graph's own. */
export const withCheckpointer = fromLangGraph(
  createAgent({ model, tools: [weather, pay], middleware, checkpointer: new MemorySaver() }),
  card,
);
