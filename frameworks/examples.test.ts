import { createServer } from "palaver";
import { connect } from "palaver/client";
import { expect, test } from "vitest";
import aiSdk from "./examples/ai-sdk.ts";
import langGraph from "./examples/langgraph.ts";
import openAIAgents from "./examples/openai-agents.ts";

const BASE = "https://agents.example.org";

/** Their models need keys, so nothing is sent to them. */
test.each([
  ["AI SDK", aiSdk],
  ["LangGraph", langGraph],
  ["OpenAI Agents SDK", openAIAgents],
])("the example for the %s in the guide can be served", async (_, agent) => {
  const server = createServer(agent, { store: "memory:", publicUrl: BASE });
  try {
    const { card } = await connect(BASE, {
      fetch: (input, init) => server.fetch(new Request(input, init)),
      cache: false,
    });
    expect(card).toMatchObject({ name: "Meteorologist", description: "Knows the weather.", version: "1.0.0" });
  } finally {
    await server.close();
  }
});
