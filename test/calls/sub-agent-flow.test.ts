import { describe, expect, test } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { at, streamed, textAt } from "../seeds/exchange.ts";
import { userMessage } from "../seeds/kinds.ts";
import { runPrinted } from "../seeds/printed/run.ts";
import { rpcRequest } from "../seeds/rpc.ts";
import { scripted, serveAgents } from "../seeds/test-server.ts";

/** The main agent calls the sub-agent with `task.call`, and its status message names the sub-agent's task. */
const main = scripted(
  async (task) => {
    await task.status("Invoking data analyzer...");
    const { text, taskId } = await task.call("analyzer", "Analyze Q4 sales data");
    await task.status("Received analysis results, generating report...", { referenceTaskIds: [taskId ?? ""] });
    return `Report: ${text}`;
  },
  { id: "main" },
);
const analyzer = scripted(async () => "Q4 is up", { id: "analyzer" });

const BINDINGS = {
  "JSON-RPC": (url: string, message: object) =>
    streamed(`${url}/api/a2a`, rpcRequest(1, "message/stream", { message })),
  REST: (url: string, message: object) => streamed(`${url}/v1/message:stream`, { message }, { "a2a-version": "0.3" }),
};

describe.each(Object.entries(BINDINGS))("the flow of sub-agents over %s", (_name, send) => {
  test("has all five steps, and the client's own code finds the relation", async () => {
    await using testServer = await serveAgents([main, analyzer]);
    // Step 1: the client calls the main agent.
    const frames = await send(testServer.url, userMessage("Analyze sales and create report", { messageId: "msg-1" }));
    const events = frames.map(({ json }) => at(json, "result"));
    const texts = events.map((event) => at(event, "status.message.parts.0.text"));
    // Step 2: the main agent says what it does.
    expect(texts).toContain("Invoking data analyzer...");
    // Step 5: it continues with the result.
    expect(texts).toContain("Received analysis results, generating report...");
    const parent = textAt(events[0], "id");
    const received = events[texts.indexOf("Received analysis results, generating report...")];
    const child = textAt(received, "status.message.referenceTaskIds.0");
    // Steps 3 and 4: the sub-agent's task refers to the main task, and has ended by itself.
    const found = await (await connect(testServer.of("analyzer"))).task(child).get({ historyLength: 1 });
    expect(found).toMatchObject({ history: [{ referenceTaskIds: [parent] }], status: { state: "completed" } });
    expect(events.map((event) => at(event, "artifact.parts.0.text"))).toContain("Report: Q4 is up");
  });

  test("fills `taskRelations` of the printed client", async () => {
    await using testServer = await serveAgents([main, analyzer]);
    async function* streamMessage({
      params,
    }: {
      readonly params: { readonly message: object };
    }): AsyncGenerator<unknown> {
      for (const { json } of await send(testServer.url, params.message)) yield json;
    }
    const { invokeWithSubAgents, taskRelations } = runPrinted<{
      invokeWithSubAgents(prompt: string): Promise<void>;
      readonly taskRelations: Map<string, readonly string[]>;
    }>("002-client-handling.txt", {
      names: ["invokeWithSubAgents", "taskRelations"],
      scope: { streamMessage, generateId: () => crypto.randomUUID() },
    });
    await invokeWithSubAgents("Analyze sales and create report");
    expect(taskRelations.size).toBe(1);
    const [[parent = "", [child = ""] = []] = []] = taskRelations;
    const stateOf = async (id: string, taskId: string) =>
      (await (await connect(testServer.of(id))).task(taskId).get()).status.state;
    expect(await stateOf("main", parent)).toBe("completed");
    expect(await stateOf("analyzer", child)).toBe("completed");
  });
});
