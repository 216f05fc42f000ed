import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../architecture/imports.ts";
import { wireTask } from "../scripted-agent.ts";
import { openSetting } from "./setting.ts";

const { script, terminal, world } = openSetting();

const COMMANDS = [
  ["send"],
  ["card", "get"],
  ...["get", "list", "cancel", "subscribe", "download"].map((verb) => ["task", verb]),
  ...["create", "get", "list", "delete"].map((verb) => ["task", "push-config", verb]),
  ["auth", "login"],
  ["config", "show"],
  ["conformance"],
  ["completion"],
];

describe("the tool", () => {
  it("A2ACLI_CLI_001 prints help with help and --help, with examples and the current defaults", async () => {
    for (const command of COMMANDS) {
      const asked = await terminal.run(["help", ...command]);
      const flagged = await terminal.run([...command, "--help"]);
      expect(asked, command.join(" ")).toMatchObject({ code: 0, stderr: "" });
      expect(asked.stdout).toBe(flagged.stdout);
      expect(asked.stdout).toContain("Examples:");
    }
    const { stdout } = await terminal.run(["help"]);
    for (const [name] of COMMANDS) expect(stdout).toMatch(new RegExp(`^  ${name} `, "m"));
    const env = { A2ACLI_OUTPUT: "json", A2ACLI_BEARER: "secret" };
    const help = (await terminal.run(["send", "--help"], { env })).stdout;
    expect(help).toMatch(/--output +json \(A2ACLI_OUTPUT\)/);
    expect(help).toMatch(/--poll-interval +2s$/m);
    expect(help).not.toContain("secret\n");
    expect(await terminal.run(["help", "nonsense"])).toMatchObject({ code: 2 });
  });

  it("A2ACLI_CLI_001 prints its version with -v and --version", async () => {
    const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    for (const flag of ["-v", "--version"]) {
      expect(await terminal.run([flag])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    }
  });

  it("A2ACLI_CLI_002 prints completions for bash, zsh and fish; bash accepts them", async () => {
    for (const shell of ["bash", "zsh", "fish"]) {
      const { code, stdout } = await terminal.run(["completion", shell]);
      expect(code).toBe(0);
      for (const word of ["send", "push-config", "poll-interval"]) expect(stdout).toContain(word);
    }
    expect(await terminal.run(["completion", "cmd.exe"])).toMatchObject({ code: 2 });
    const { stdout } = await terminal.run(["completion", "bash"]);
    const complete = (...words: string[]): string[] => {
      const array = words.map((word) => `'${word}'`).join(" ");
      const script = `${stdout}\nCOMP_WORDS=(${array}); COMP_CWORD=${words.length - 1}; _palaver; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync("bash", ["-c", script], { encoding: "utf8" }).trim().split("\n");
    };
    expect(complete("palaver", "ta")).toEqual(["task"]);
    expect(complete("palaver", "task", "d")).toEqual(["download"]);
    expect(complete("palaver", "task", "push-config", "")).toContain("delete");
    expect(complete("palaver", "send", "x", "--str")).toEqual(["--stream"]);
  });

  it("A2ACLI_SKILL_001 ships no skill, so the requirement does not apply", async () => {
    const { files }: { files: string[] } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const found = readdirSync(ROOT, { recursive: true, withFileTypes: true })
      .filter(({ parentPath }) => !/node_modules|\.git/.test(parentPath))
      .filter(({ name }) => name === "SKILL.md");
    expect(found).toEqual([]);
    expect(files).not.toContain("skills");
  });
});

describe("conformance", () => {
  it("A2ACLI_CONFORM_001 passes a conforming agent and reports the errors of another", async () => {
    const good = await terminal.run(["conformance", "-o", "json", "-a", world.url]);
    expect(JSON.parse(good.stdout)).toMatchObject({ failed: 0 });
    expect(good.code).toBe(0);
    expect(JSON.parse(good.stdout).passed).toBeGreaterThanOrEqual(7);
    const wrong = await script({
      card: { capabilities: { streaming: true } },
      reply: ({ method }) =>
        method === "SendStreamingMessage"
          ? { events: [{ task: wireTask("t", "COMPLETED") }] }
          : { result: method === "SendMessage" ? { task: wireTask("t", "COMPLETED") } : wireTask("t", "COMPLETED") },
    });
    const bad = await terminal.run(["conformance", "-a", wrong.url]);
    expect(bad.code).toBe(1);
    expect(bad.stdout).toMatch(/^Pass: send: /m);
    expect(bad.stdout).toMatch(/^Fail: get-unknown: .*it was not rejected/m);
  });

  it("A2ACLI_CONFORM_001 runs the A2A project's kit with --tck", async () => {
    const kit = join(terminal.folder, "kit");
    mkdirSync(join(kit, ".venv", "bin"), { recursive: true });
    writeFileSync(join(kit, "run_tck.py"), "");
    // A stand-in for the kit's Python: prints its arguments and fails.
    writeFileSync(join(kit, ".venv", "bin", "python"), '#!/bin/sh\necho "called with $*"\nexit 3\n');
    chmodSync(join(kit, ".venv", "bin", "python"), 0o755);
    const { code, stdout, stderr } = await terminal.run(["conformance", "--tck", "kit", "-a", world.url]);
    expect(stderr).toContain(`called with run_tck.py --sut-url ${world.url}/ --category mandatory`);
    expect(stdout).toMatch(/^Fail: tck: .*exit code 3/m);
    expect(code).toBe(1);
    writeFileSync(join(kit, "run_tck.py"), 'parser.add_argument("--sut-host")');
    const later = await terminal.run(["conformance", "--tck", "kit", "-a", `${world.url}/.well-known/agent-card.json`]);
    expect(later.stderr).toContain(`called with run_tck.py --sut-host ${world.url} --level must`);
    expect(await terminal.run(["conformance", "--tck", "nowhere", "-a", world.url])).toMatchObject({ code: 2 });
  });
});
