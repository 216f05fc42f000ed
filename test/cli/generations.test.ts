import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CommandLine, type Serving } from "./command-line.ts";
import { Terminal } from "./terminal.ts";

let line: CommandLine;
let demo: Serving;
const terminal = new Terminal();
beforeAll(async () => {
  terminal.open();
  line = new CommandLine();
  demo = await line.serve(["--demo", "--store", "memory:", "--preview", "1.1"]);
});
afterAll(async () => {
  terminal.close();
  await line.close();
});

describe("the command line with the preview of 1.1", () => {
  it("shows the generation, waits for a change, and sends only if the task has not changed", async () => {
    const address = ["-a", `${demo.url}/agents/booking`, "--a2a-version", "1.1"];
    const sent = await terminal.run(["send", "Book a table", ...address, "-o", "json"]);
    const { task } = JSON.parse(sent.stdout);
    expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    expect(Number(task.generation)).toBeGreaterThan(1);
    const got = await terminal.run(["task", "get", task.id, ...address, "--wait-for-change", "1", "-o", "json"]);
    expect(JSON.parse(got.stdout).generation).toBe(task.generation);
    const refused = await terminal.run(["send", "x", ...address, "--task-id", task.id, "--if-generation", "1"]);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("TaskGenerationMismatchError");
    const usage = await terminal.run(["send", "x", ...address, "--if-generation", "1"]);
    expect(usage.code).toBe(2);
  });
});
