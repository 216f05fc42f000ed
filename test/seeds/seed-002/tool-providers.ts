import { mcpTools, modelAgent, tool } from "palaver/models";
import { expect, it } from "vitest";
import { openMcpServer } from "../../../src/adapters/models/test/mcp-server.ts";
import { openModelServer } from "../../../src/adapters/models/test/model-server.ts";
import { at, streamed, textAt } from "../exchange.ts";
import { idsOf, textPart, userMessage } from "../kinds.ts";
import { resultsOf, rpcRequest } from "../rpc.ts";
import { serveAgents } from "../test-server.ts";
import { seed } from "./seed.ts";

const NAMES = ["local", "weather_now", "client"];

it(
  seed.example(
    "Integration with RxJS Agent › 2 ToolProviders",
    "local, MCP and client tools are executed, and their calls and results are A2A messages",
  ),
  async () => {
    await using model = await openModelServer((messages) => {
      const name = NAMES[messages.filter(({ role }) => role === "assistant").length];
      if (name === undefined)
        return {
          text: [
            messages
              .filter(({ role }) => role === "tool")
              .map(({ content }) => content)
              .join(", "),
          ],
        };
      return { calls: [{ id: name, name, input: '{"city":"Ulm"}' }] };
    });
    await using mcp = await openMcpServer();
    const remote = mcpTools({ url: mcp.url, only: ["weather_now"] });
    const local = tool({ description: "Runs here.", execute: () => "from here" });
    const client = tool({ description: "Runs at the client." });
    const agent = modelAgent({
      name: "Tools",
      description: "Uses tools.",
      version: "1.0.0",
      model: model.model,
      tools: [{ local, client }, remote],
    });
    await using testServer = await serveAgents(agent);
    const stream = async (message: object): Promise<readonly unknown[]> =>
      resultsOf(await streamed(`${testServer.url}/api/a2a`, rpcRequest(1, "message/stream", { message })), 1);
    const asked = await stream(userMessage("Use them all"));
    const data = (result: unknown): unknown => at(result, "status.message.parts.0.data");
    expect(asked.map(data).filter((value) => value !== undefined)).toMatchObject([
      { name: "local" },
      { result: "from here" },
      { name: "weather_now", input: { city: "Ulm" } },
      { result: "It rains in Ulm." },
      { name: "client" },
    ]);
    // The client executes the last one, as in the section Client Tool Invocation.
    const question = asked.at(-1);
    expect(at(question, "status.state")).toBe("input-required");
    const toolUseId = textAt(question, "status.message.inputRequest.requestId");
    const answer = userMessage("", {
      parts: [{ kind: "tool-result", toolUseId, result: "from the client" }],
      referenceTaskIds: [idsOf(asked[0]).taskId],
    });
    const done = await stream(answer);
    const texts = done.map((result) => at(result, "artifact.parts.0"));
    expect(texts).toContainEqual(textPart('"from here", "It rains in Ulm.", "from the client"'));
    expect(at(done.at(-1), "status.state")).toBe("completed");
    await remote.close();
  },
);
