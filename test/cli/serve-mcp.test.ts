import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openServer2026 } from "../../src/adapters/mcp/test/open-servers.ts";
import { markedProcesses } from "../../src/adapters/process/children/process-table.ts";
import { connect } from "../../src/client/connect.ts";
import { Workbench } from "../e2e/workbench.ts";
import { Terminal } from "./terminal.ts";

const PROGRAM = fileURLToPath(new URL("../../src/adapters/mcp/test/program-2025.ts", import.meta.url));

describe("palaver serve --mcp", () => {
  const bench = new Workbench();
  const terminal = new Terminal();
  beforeEach(() => terminal.open());
  afterEach(async () => {
    terminal.close();
    await bench.close();
  });

  it("serves the tools of a server at an address and of a command, each as an agent", async () => {
    await using town = await openServer2026();
    const env = { XDG_STATE_HOME: bench.path("state") };
    const command = `${process.execPath} "${PROGRAM}"`;
    const server = await bench.serve(["--mcp", town.url, "--store", "memory:"], { env });
    const agent = await connect(server.url);
    expect(agent.card.skills.map(({ id }) => id)).toContain("book_table");
    const sent = await agent.send({ parts: [{ data: { a: 1, b: 2 } }] });
    expect(sent.kind === "task" && sent.task.artifacts?.[0]?.parts).toMatchObject([{ data: { sum: 3 } }]);
    expect((await server.kill("SIGTERM")).code).toBe(0);

    const second = await bench.serve(["--mcp", command, "--store", "memory:"], { env });
    const { skills } = (await connect(second.url)).card;
    expect(skills.map(({ name }) => name)).toContain("GitHub List PRs");
    expect((await second.kill("SIGTERM")).code).toBe(0);
    const left = (await markedProcesses()).filter(({ owner }) => owner.split("-")[1] === String(second.pid));
    expect(left).toEqual([]);
  });

  it.each([
    [["--mcp", ""], "is empty, or a quote in it is not closed"],
    [["--mcp", "http://127.0.0.1:9/mcp"], "--mcp: The MCP server 127.0.0.1:9 cannot be used"],
    [["--mcp", "no-such-program"], '--mcp: the program "no-such-program" was not found'],
    [["--mcp", "/bin/true"], "--mcp: The MCP server true cannot be used"],
  ])("refuses %j", async (args, problem) => {
    const { code, stderr } = await terminal.run(["serve", "--store", "memory:", ...args]);
    expect([code, stderr]).toEqual([2, expect.stringContaining(problem)]);
  });

  it("ends, with its programs, if the server may not be served at the given address", async () => {
    const args = ["serve", "--store", "memory:", "--mcp", `${process.execPath} "${PROGRAM}"`, "--host", "0.0.0.0"];
    const { code, stderr } = await terminal.run(args);
    expect([code, stderr]).toEqual([2, expect.stringContaining("without authentication")]);
    await expect
      .poll(async () => (await markedProcesses()).filter(({ owner }) => owner.split("-")[1] === String(process.pid)))
      .toEqual([]);
  });
});
