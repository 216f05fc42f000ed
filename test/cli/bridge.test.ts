import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CommandLine } from "./command-line.ts";
import { Terminal } from "./terminal.ts";

let line: CommandLine;
const terminal = new Terminal();
beforeEach(() => {
  terminal.open();
  line = new CommandLine();
});
afterEach(async () => {
  terminal.close();
  await line.close();
});

describe("palaver bridge", () => {
  it("serves an agent of one version to callers of all versions", async () => {
    const far = await line.serve(["--demo", "--store", "memory:", "--versions", "0.3"]);
    const near = await line.listen(["bridge", `${far.url}/agents/echo`, "--store", "memory:"]);
    const sent = await terminal.run(["send", "Hello over there", "-a", near.url]);
    expect(sent).toMatchObject({ code: 0, stdout: expect.stringContaining("Hello over there") });
    const response = await fetch(`${near.url}/subscribe`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tasks/sendSubscribe",
        params: { id: "t-1", message: { role: "user", parts: [{ type: "text", text: "Hello from long ago" }] } },
      }),
    });
    const stream = await response.text();
    expect(stream).toContain("event: artifact");
    expect(stream).toContain("Hello from long ago");
    expect(stream).toMatch(/"state":"completed".*"final":true/);
  });

  it("fails with a clear error if no agent answers", async () => {
    const ended = await terminal.run(["bridge", "http://127.0.0.1:1", "--store", "memory:"]);
    expect(ended.code).not.toBe(0);
    expect(ended.stderr).toContain("The remote agent was not found");
  });
});
