import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { agent, createServer } from "../../src/index.ts";
import { ROOT } from "../architecture/imports.ts";
import { until } from "../e2e/workbench.ts";
import { Terminal } from "./terminal.ts";

const echo = agent({ name: "Echo", description: "Repeats.", version: "1", run: async (task) => task.text });

const AGENT = `
import { agent } from ${JSON.stringify(join(ROOT, "src", "index.ts"))};
export default agent({ id: "one", name: "One", description: "Answers.", version: "1.0.0", run: async () => "one" });
`;

// Windows opens URLs with a program of its own.
describe.skipIf(process.platform === "win32")("the browser is opened", () => {
  const terminal = new Terminal();
  const path = process.env["PATH"];
  const opened = (): string => (existsSync(join(terminal.folder, "opened")) ? read("opened") : "");
  const read = (name: string): string => readFileSync(join(terminal.folder, name), "utf8").trim();
  beforeEach(() => {
    terminal.open();
    for (const name of ["xdg-open", "open"])
      writeFileSync(join(terminal.folder, name), `#!/bin/sh\necho "$1" > '${terminal.folder}/opened'\n`, {
        mode: 0o755,
      });
    process.env["PATH"] = `${terminal.folder}${delimiter}${path}`;
  });
  afterEach(() => {
    process.env["PATH"] = path;
    terminal.close();
  });

  /** Runs a command until the browser was opened. Resolves with the page that the URL leads to. */
  async function pageOpenedBy(argv: readonly string[]): Promise<string> {
    const stop = new AbortController();
    const run = terminal.run(argv, { isTTY: true, signal: stop.signal });
    try {
      await until(() => opened() !== "");
      const response = await fetch(opened());
      return await response.text();
    } finally {
      stop.abort();
      expect((await run).stderr).not.toContain("rror");
    }
  }

  it("by palaver console, for an agent elsewhere", async () => {
    const server = createServer([echo], { port: 0, store: "memory:" });
    const { url } = await server.listen();
    try {
      expect(await pageOpenedBy(["console", url])).toContain("<title>");
      expect(opened()).toMatch(/\/console\/#[\w-]{32}/);
    } finally {
      await server.close();
    }
  });

  it("by palaver dev", async () => {
    writeFileSync(join(terminal.folder, "agent.ts"), AGENT);
    expect(await pageOpenedBy(["dev", "agent.ts", "--port", "0", "--no-types"])).toContain("<title>");
    expect(opened()).toMatch(/\/console\/#[\w-]{32}/);
  });
});
