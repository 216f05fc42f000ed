import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ROOT } from "../architecture/imports.ts";
import { CommandLine, type Ended, type Serving } from "./command-line.ts";
import { fieldsOf, linesOf, type Run, Terminal } from "./terminal.ts";

const MAIN = join(ROOT, "src", "cli", "main.ts");

/** A self-signed certificate with its key, made for this test and used nowhere else. */
const KEY = pem(
  "PRIVATE KEY",
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgHHGT/olpLofdRWzjgi2byPngwuuysKpLoBzPfPAMWsehRANCAATlPvyyJI7x8ZFE9/0wfOu0Xj+wsU8uIKIlRcaif41YnIjfqvBmt5k64sDR8nmbgdbmjytoUfosDQ/eR95nP2HD",
);
const CERTIFICATE = pem(
  "CERTIFICATE",
  "MIIBlzCCAT2gAwIBAgIUEWNzwrQCli1808H3sFPy44e8vzgwCgYIKoZIzj0EAwIwIDEeMBwGA1UEAwwVc29tZWJvZHkuZWxzZS5leGFtcGxlMCAXDTI2MTExNjAxMDIxMFoYDzIxMjYxMDIzMDEwMjEwWjAgMR4wHAYDVQQDDBVzb21lYm9keS5lbHNlLmV4YW1wbGUwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATlPvyyJI7x8ZFE9/0wfOu0Xj+wsU8uIKIlRcaif41YnIjfqvBmt5k64sDR8nmbgdbmjytoUfosDQ/eR95nP2HDo1MwUTAdBgNVHQ4EFgQUzyKhtaa+lcqkY/OdVEC/t3V8a4EwHwYDVR0jBBgwFoAUzyKhtaa+lcqkY/OdVEC/t3V8a4EwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEArA6xD5FwxPfQ98Yz9W8dErOXQa4DsvCpbom4dgzgAaoCIBJafzud6+S7G0VXByZOZC/gNmVXYKXrtIdP7I95KKJk",
);

function pem(kind: string, base64: string): string {
  return `-----BEGIN ${kind}-----\n${base64.replaceAll(/.{64}/g, "$&\n")}\n-----END ${kind}-----\n`;
}

let serving: CommandLine;
let demo: Serving;
let line: CommandLine;
beforeAll(async () => {
  serving = new CommandLine();
  demo = await serving.serve(["--demo", "--store", "memory:"]);
});
afterAll(() => serving.close());
beforeEach(() => {
  line = new CommandLine();
});
afterEach(() => line.close());

/** Starts a command and returns its process, so that a test can send it signals and input. */
function start(args: readonly string[]): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: line.folder,
    env: { ...process.env, HOME: line.folder },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const output = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    output.stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    output.stderr += text;
  });
  const ended = once(child, "close").then(([code]: (number | null)[]) => ({ code: code ?? null, ...output }));
  return { child, ended };
}

/** Runs a command in a process of its own. */
const run = (...args: string[]): Promise<Ended> => line.run(args, { HOME: line.folder });

/** Runs a command in this process, in the same folder. */
const runHere = (...args: string[]): Promise<Run> => {
  const terminal = new Terminal();
  terminal.folder = line.folder;
  return terminal.run(args);
};

describe("the palaver command", () => {
  it("sends a message to a running agent and streams the answer", async () => {
    const { code, stdout, stderr } = await run("send", "hello", "-a", demo.url, "--stream");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toContain("Text:\nhello\n\n");
    expect(fieldsOf(stdout)["State"]).toBe("TASK_STATE_COMPLETED");
  });

  it("reads data from standard input and prints JSON", async () => {
    const { child, ended } = start(["send", "--data", "-", "-o", "json", "-a", demo.url]);
    child.stdin?.end('{"from":"a pipe"}');
    const { code, stdout } = await ended;
    expect(code).toBe(0);
    expect(JSON.parse(stdout).task.artifacts[0].parts).toMatchObject([{ data: { from: "a pipe" } }]);
  });

  it("streams over several connections and ends when the task ends", async () => {
    const { code, stdout } = await runHere("send", "2", "-a", `${demo.url}/agents/countdown`, "--stream", "-o", "json");
    expect(code).toBe(0);
    const text = linesOf(stdout).flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts[0].text ?? []);
    expect(text.join("")).toBe("2 1 Lift-off!");
  });

  it("prints the ids when it is interrupted, and the task continues", async () => {
    const { child, ended } = start(["send", "60", "-a", `${demo.url}/agents/countdown`, "--stream"]);
    let seen = "";
    child.stdout?.on("data", (text: string) => {
      const isNew = !seen.includes("60 ");
      seen += text;
      // Only once: a second SIGINT would end the command at once.
      if (isNew && seen.includes("60 ")) child.kill("SIGINT");
    });
    const { code, stdout, stderr } = await ended;
    expect(code).toBe(130);
    const { Task: id = "", State: state } = fieldsOf(stdout);
    expect(state).toBe("TASK_STATE_WORKING");
    expect(stderr).toContain(`--task-id ${id} --wait`);
    const canceled = await runHere("task", "cancel", id, "-a", `${demo.url}/agents/countdown`);
    expect(fieldsOf(canceled.stdout)["State"]).toBe("TASK_STATE_CANCELED");
  });

  it("ends without an error when its output is closed", async () => {
    const { child, ended } = start(["send", "60", "-a", `${demo.url}/agents/countdown`, "--stream", "-o", "json"]);
    child.stdout?.once("data", () => child.stdout?.destroy());
    const { stderr } = await ended;
    expect(stderr).not.toMatch(/EPIPE|at .*\.ts/);
  });

  it("refuses a server with an untrusted certificate, unless --insecure is given", async () => {
    const asked: string[] = [];
    const server = createServer({ key: KEY, cert: CERTIFICATE }, (request, response) => {
      asked.push(request.url ?? "");
      const card = {
        name: "Secret",
        description: "d",
        version: "1",
        supportedInterfaces: [
          { url: `https://${request.headers.host}/`, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
        ],
        capabilities: {},
        defaultInputModes: [],
        defaultOutputModes: [],
        skills: [],
      };
      response.setHeader("content-type", "application/json").end(JSON.stringify(card));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      const refused = await runHere("card", "get", "-a", url, "-o", "json");
      expect(refused.code).toBe(3);
      expect(JSON.parse(refused.stdout).error.code).toBe("A2ACLI_ERR_UNREACHABLE");
      expect(asked).toEqual([]);
      const trusted = await run("card", "get", "-a", url, "--insecure");
      expect(trusted.code).toBe(0);
      expect(fieldsOf(trusted.stdout)["Name"]).toBe("Secret");
      expect(trusted.stderr).toMatch(/^Warning: TLS certificates are not verified/);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});

describe("palaver init", () => {
  it("creates a project whose agent answers", async () => {
    const { code, stdout } = await runHere("init", "my-agent");
    expect(code).toBe(0);
    expect(stdout).toMatch(/Next:\n {2}cd my-agent\n {2}npm install\n {2}npm run dev/);
    const folder = join(line.folder, "my-agent");
    expect(readFileSync(join(folder, "agent.ts"), "utf8").trimEnd().split("\n").length).toBeLessThanOrEqual(15);
    // Like npm install does.
    mkdirSync(join(folder, "node_modules"));
    symlinkSync(ROOT, join(folder, "node_modules", "palaver"));
    const server = await line.serve([join("my-agent", "agent.ts"), "--store", "memory:"]);
    const asked = await runHere("send", "Ada", "-a", server.url);
    expect(asked.stdout).toContain("Shall I greet Ada formally or warmly?");
    const done = await runHere("send", "warmly", "--task-id", fieldsOf(asked.stdout)["Task"] ?? "", "-a", server.url);
    expect(done.stdout).toContain("Text:\nHello, dear Ada!\n\n");
  });

  it("overwrites nothing", async () => {
    writeFileSync(join(line.folder, "README.md"), "mine");
    const { code, stdout, stderr } = await runHere("init");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toMatch(/already has README\.md/);
    expect(readFileSync(join(line.folder, "README.md"), "utf8")).toBe("mine");
    expect(readdirSync(line.folder)).toEqual(["README.md"]);
  });

  it("does not follow a link that points nowhere", async () => {
    symlinkSync(join(line.folder, "elsewhere"), join(line.folder, ".gitignore"));
    expect((await runHere("init")).stderr).toMatch(/already has \.gitignore/);
    expect(readdirSync(line.folder)).toEqual([".gitignore"]);
  });

  it("names the templates if one does not exist", async () => {
    const { code, stderr } = await runHere("init", "my-agent", "--template", "nope");
    expect(code).toBe(2);
    expect(stderr).toContain('There is no template "nope".');
    expect(stderr).toContain("Use one of minimal, model, tools, express, hono");
    expect(existsSync(join(line.folder, "my-agent"))).toBe(false);
  });
});
