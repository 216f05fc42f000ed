import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { CLI_ERRORS } from "../../src/cli/cli-error.ts";
import { OPTIONS } from "../../src/cli/options/option-table.ts";
import { ROOT } from "../architecture/imports.ts";
import { Terminal } from "./terminal.ts";

const terminal = new Terminal();
beforeEach(() => terminal.open());
afterEach(() => terminal.close());

describe("docs/reference/cli.md", () => {
  const page = readFileSync(join(ROOT, "docs", "reference", "cli.md"), "utf8");

  it("lists every setting with its default", () => {
    for (const { name, short, default: value } of OPTIONS) {
      const start = `| ${short === undefined ? "" : `\`-${short}\`, `}\`--${name}\` | `;
      expect(page).toContain(value === undefined ? start : `${start}\`${value}\` |`);
    }
  });

  it("lists every error code with its exit code", () => {
    for (const [code, exit] of Object.entries(CLI_ERRORS)) {
      expect(page).toMatch(new RegExp(`^\\| ${exit} \\| [^|]*\`${code}\``, "m"));
    }
  });

  it("lists every command", async () => {
    const { stdout } = await terminal.run(["help"]);
    const commands = Array.from(stdout.matchAll(/^ {2}([a-z]+)(?: {2,}| [[<])/gm), ([, name]) => name);
    expect(commands.length).toBeGreaterThanOrEqual(10);
    for (const name of commands) expect(page).toMatch(new RegExp(`^\\| \`${name}\\b`, "m"));
  });
});

describe("a terminal", () => {
  it("shows errors in colour, unless NO_COLOR or TERM=dumb is set", async () => {
    const red = "\u001b[31mError\u001b[0m: ";
    const argv = ["send", "x"];
    expect((await terminal.run(argv, { isTTY: true })).stderr).toContain(red);
    for (const env of [{ NO_COLOR: "1" }, { TERM: "dumb" }]) {
      expect((await terminal.run(argv, { isTTY: true, env })).stderr).toContain("Error: ");
      expect((await terminal.run(argv, { isTTY: true, env })).stderr).not.toContain("\u001b[3");
    }
    expect((await terminal.run(argv)).stderr).toMatch(
      /^Error: The agent is missing\.\nCode: A2ACLI_ERR_USAGE\nHint: Add its URL/,
    );
  });
});

describe("a task id", () => {
  it("may be given in one place only", async () => {
    const run = await terminal.run(["task", "get", "one", "--task-id", "two", "-a", "http://127.0.0.1:9"]);
    expect(run).toMatchObject({ code: 2, stderr: expect.stringContaining("Two task ids are given") });
  });
});
