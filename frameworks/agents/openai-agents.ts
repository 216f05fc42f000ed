import { Agent, tool } from "@openai/agents";
import { fromOpenAIAgents } from "palaver/openai-agents";
import { z } from "zod";
import { model } from "../support/openai-model.ts";
import { reportTool } from "../support/scripted.ts";

const weather = tool({
  name: "weather",
  description: "The weather.",
  parameters: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    await reportTool("weather");
    return { city, degrees: 21 };
  },
});
const pay = tool({
  name: "pay",
  description: "Pays.",
  parameters: z.object({ amount: z.number() }),
  needsApproval: true,
  execute: async ({ amount }) => {
    await reportTool("pay");
    return { paid: amount };
  },
});

export default fromOpenAIAgents(new Agent({ name: "Assistant", model, tools: [weather, pay] }), {
  name: "Assistant",
  description: "Helps.",
  version: "1",
});
