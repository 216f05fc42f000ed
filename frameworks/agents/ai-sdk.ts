import { ToolLoopAgent, tool } from "ai";
import { fromAiSdk } from "palaver/ai-sdk";
import { z } from "zod";
import { model } from "../support/ai-sdk-model.ts";
import { reportTool } from "../support/scripted.ts";

const weather = tool({
  inputSchema: z.object({ city: z.string() }),
  execute: async ({ city }) => {
    await reportTool("weather");
    return { city, degrees: 21 };
  },
});
const pay = tool({
  inputSchema: z.object({ amount: z.number() }),
  execute: async ({ amount }) => {
    await reportTool("pay");
    return { paid: amount };
  },
});

export default fromAiSdk(
  new ToolLoopAgent({ model, tools: { weather, pay }, toolApproval: { pay: "user-approval" }, maxRetries: 0 }),
  {
    name: "Assistant",
    description: "Helps.",
    version: "1",
  },
);
