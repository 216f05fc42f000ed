import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { connect } from "../../src/client/connect.ts";
import { Workbench } from "../e2e/workbench.ts";
import { Terminal } from "./terminal.ts";

describe("palaver serve --exec", () => {
  const bench = new Workbench();
  const terminal = new Terminal();
  beforeEach(() => terminal.open());
  afterEach(async () => {
    terminal.close();
    await bench.close();
  });

  it("serves a command as an agent with the given name, and splits it into words", async () => {
    const command = `bash -c 'read -r line; echo "$line from $0"' "the program"`;
    const env = { XDG_STATE_HOME: bench.path("state") };
    const server = await bench.serve(["--exec", command, "--name", "Shout", "--store", "memory:"], { env });
    const agent = await connect(server.url);
    expect(agent.card.name).toBe("Shout");
    const sent = await agent.send("Hello");
    expect(sent.kind === "task" && sent.task.artifacts?.[0]?.parts).toMatchObject([{ text: "Hello from the program" }]);
    expect((await server.kill("SIGTERM")).code).toBe(0);
  });

  it.each([
    [["--name", "x"], "--name and --protocol belong to --exec"],
    [["--exec", ""], "is empty, or a quote in it is not closed"],
    [["--exec", "cat 'x"], "is empty, or a quote in it is not closed"],
    [["--exec", "no-such-program"], '--exec: the program "no-such-program" was not found'],
    [["--exec", "cat", "--host", "0.0.0.0"], "without authentication"],
    [["--exec", "cat", "--protocol", "xml"], "--protocol"],
  ])("refuses %j", async (args, problem) => {
    const { code, stderr } = await terminal.run(["serve", "--store", "memory:", ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });
});
