import { connect, textOf } from "palaver/client";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openModelServer } from "../../src/adapters/models/test/model-server.ts";
import { CommandLine } from "./command-line.ts";
import { Terminal } from "./terminal.ts";

let line: CommandLine;
beforeEach(() => {
  line = new CommandLine();
});
afterEach(() => line.close());

describe("palaver serve --model", () => {
  it("serves an assistant with that model and the instructions", async () => {
    await using model = await openModelServer(() => ({ text: ["Hello", " there."] }));
    const args = ["--model", "ollama/llama3.2", "--instructions", "Be short."];
    const server = await line.serve(args, { OLLAMA_BASE_URL: model.url });
    const agent = await connect(server.url);
    const sent = await agent.send("Hi");
    expect(sent.kind === "task" && textOf(sent.task.artifacts?.[0]?.parts ?? [])).toBe("Hello there.");
    expect(model.requests[0]).toMatchObject({
      model: "llama3.2",
      messages: [{ content: "Be short." }, { content: "Hi" }],
    });
  });

  it("refuses a model without an endpoint, with the reason", async () => {
    const terminal = new Terminal();
    terminal.open();
    const { code, stderr } = await terminal.run(["serve", "--model", "unknown/model"]);
    terminal.close();
    expect(code).toBe(2);
    expect(stderr).toContain("Set UNKNOWN_BASE_URL or OPENAI_BASE_URL");
  });
});
