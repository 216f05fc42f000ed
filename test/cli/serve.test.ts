import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ROOT } from "../architecture/imports.ts";
import { codeBlocks } from "../docs/code-blocks.ts";
import { CommandLine } from "./command-line.ts";

const AGENT = `export default {
  id: "hello", name: "Hello", description: "Says hello.", version: "1.0.0",
  async run(task) { return "Hello, " + task.text; },
};`;

let line: CommandLine;
const file = (name: string, content: string | Uint8Array): string => {
  writeFileSync(join(line.folder, name), content);
  return name;
};
beforeEach(() => {
  line = new CommandLine();
});
afterEach(() => line.close());

describe("palaver", () => {
  it("prints its version and its help", async () => {
    expect(await line.run(["--version"])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    });
    const help = await line.run(["serve", "--help"]);
    expect(help.code).toBe(0);
    for (const word of ["--port", "--store", "--durability", "--public-url", "--demo", "Examples:", "BIND_HOST"]) {
      expect(help.stdout).toContain(word);
    }
  });

  it.each([
    [["serve"], /nothing to serve[\s\S]*--demo/],
    [["serve", "--demo", "--port", "many"], /whole number/],
    [["serve", "--demo", "--durability", "some"], /Allowed choices are full, process/],
    [["serve", "--demo", "--store", "redis://x"], /must be memory: or sqlite:FILE, not "redis:\/\/x"/],
    [["serve", "--demo", "--public-url", "x"], /public URL must be like/],
    [["serve", "--dmeo"], /unknown option '--dmeo'[\s\S]*--demo/],
    [["sevre"], /unknown command 'sevre'[\s\S]*serve/],
  ])("exits with 2 when it does not understand %j", async (args, message) => {
    const { code, stdout, stderr } = await line.run(args);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });
});

describe("palaver serve, when it cannot start,", () => {
  const refusal = async (args: readonly string[], env: Readonly<Record<string, string>> = {}) => {
    const { code, stdout, stderr } = await line.run(["serve", ...args], { PORT: "0", ...env });
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    return stderr;
  };

  it.each([
    ["a module that is not there", undefined, /There is no module agent\.mjs/],
    ["a module that throws", 'throw new Error("API key missing")', /agent\.mjs could not be loaded: API key missing/],
    ["a module that exports nothing", "", /agent\.mjs exports no agent/],
  ])("says what is wrong with %s", async (_, source, message) => {
    if (source !== undefined) file("agent.mjs", source);
    expect(await refusal(["agent.mjs"])).toMatch(message);
  });

  it("shows the stack of an error in a module when asked to", async () => {
    file("agent.mjs", 'throw new Error("API key missing")');
    expect((await line.run(["serve", "agent.mjs", "--verbose"])).stderr).toMatch(/at .*agent\.mjs:1/);
    expect((await line.run(["serve", "agent.mjs"], { DEBUG: "1" })).stderr).toMatch(/at .*agent\.mjs:1/);
  });

  it("says which port is taken, and leaves the store to others", async () => {
    const other = createServer();
    const port = await freePort(other);
    try {
      expect(await refusal(["--demo", "--port", String(port)])).toMatch(
        new RegExp(`Port ${port} .* is in use[\\s\\S]*--port`),
      );
    } finally {
      other.close();
    }
    await line.serve(["--demo"]);
  });

  it("says that the database is no database", async () => {
    file("tasks.db", "This is not a database, whatever its name says. ".repeat(200));
    expect(await refusal(["--demo", "--store", "sqlite:tasks.db"])).toMatch(/tasks\.db/);
  });

  it("says that the database is of a newer version", async () => {
    const database = new DatabaseSync(join(line.folder, "tasks.db"));
    database.exec("PRAGMA user_version = 9999; CREATE TABLE future (x)");
    database.close();
    expect(await refusal(["--demo", "--store", "sqlite:tasks.db"])).toMatch(/tasks\.db has schema 9999[\s\S]*Upgrade/);
  });

  it("says who owns the database", async () => {
    const owner = await line.serve(["--demo"]);
    expect(await refusal(["--demo"])).toContain(String(owner.pid));
  });

  it("says that the folder cannot be written to", async () => {
    mkdirSync(join(line.folder, "data"));
    file("data/file", "");
    expect(await refusal(["--demo", "--store", "sqlite:data/file/tasks.db"])).toMatch(
      /cannot be written to[\s\S]*--store/,
    );
  });

  it("says that two agents have the same id", async () => {
    file("one.mjs", AGENT);
    file("two.mjs", AGENT);
    const { code, stderr } = await line.run(["serve", "one.mjs", "two.mjs"]);
    expect(stderr).toMatch(/Two agents have the id "hello"/);
    expect(code).toBe(2);
  });
});

describe("palaver serve", () => {
  const shell = async (command: string) => (await promisify(execFile)("sh", ["-c", command])).stdout;

  it("serves a module's agent, says what to try, and that works when pasted", async () => {
    const { url, stdout } = await line.serve([file("agent.mjs", AGENT), "--store", "memory:"]);
    const text = stdout();
    expect(text).toContain(`${url}/agents/hello/`);
    const command = /Try: ([\s\S]*'\n)/.exec(text)?.[1] ?? "";
    expect(JSON.parse(await shell(command))).toMatchObject({
      result: {
        task: { status: { state: "TASK_STATE_COMPLETED" }, artifacts: [{ parts: [{ text: "Hello, Hello" }] }] },
      },
    });
  });

  it("serves modules of the clone, which import the package by its name", async () => {
    const modules = ["greeter.ts", "trip-planner.ts"].map((name) => join(ROOT, "examples", name));
    const { url } = await line.serve([...modules, "--store", "memory:"]);
    const send = async (agent: string, content: object) => {
      const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", ...content };
      const response = await fetch(`${url}/agents/${agent}/`, {
        method: "POST",
        headers: { "content-type": "application/json", "a2a-version": "1.0" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } }),
      });
      const { result } = (await response.json()) as { result: { task: SentTask } };
      const text = result.task.artifacts.flatMap(({ parts }) => parts.map((part) => part.text)).join("");
      return { id: result.task.id, state: result.task.status.state, text };
    };
    expect(await send("greeter", { parts: [{ text: "Ada" }] })).toMatchObject({ text: "Hello, Ada!" });
    const asked = await send("trip-planner", { parts: [{ text: "Oslo" }] });
    expect(asked).toMatchObject({ state: "TASK_STATE_INPUT_REQUIRED", text: "Oslo: 14 °C and sunny. " });
    const answered = await send("trip-planner", { taskId: asked.id, parts: [{ data: { book: true } }] });
    expect(answered).toMatchObject({ state: "TASK_STATE_COMPLETED", text: "Oslo: 14 °C and sunny. Booked." });
  });

  it("listens where PORT and BIND_HOST say, and its cards say so", async () => {
    const other = createServer();
    const port = await freePort(other);
    await new Promise((resolve) => other.close(resolve));
    const { url } = await line.serve(["--demo", "--store", "memory:"], { PORT: String(port), BIND_HOST: "0.0.0.0" });
    expect(url).toBe(`http://127.0.0.1:${port}`);
    const card = await (await fetch(`${url}/agents/booking/.well-known/agent-card.json`)).json();
    expect(card).toMatchObject({ name: "Table booking", supportedInterfaces: [{ url: `${url}/agents/booking/` }] });
  });

  it("says in its cards the public URL it was told", async () => {
    const { url } = await line.serve(["--demo", "--store", "memory:", "--public-url", "https://agents.example.org/a/"]);
    const card = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
    expect(card).toMatchObject({ supportedInterfaces: [{ url: "https://agents.example.org/a/" }] });
  });

  it.each(["SIGTERM", "SIGINT"] as const)("stops with 0 on %s, and lets go of its store", async (signal) => {
    const first = await line.serve(["--demo"]);
    expect(await first.kill(signal)).toMatchObject({ code: 0 });
    const second = await line.serve(["--demo"]);
    expect((await second.kill("SIGTERM")).code).toBe(0);
  });

  it("answers the commands in the documentation", async () => {
    const { url } = await line.serve(["--demo"]);
    const blocks = ["README.md", "docs/guide/calling-agents.md"]
      .flatMap(codeBlocks)
      .filter(({ mark }) => mark === "run");
    expect(blocks.length).toBeGreaterThanOrEqual(4);
    for (const { code } of blocks) {
      const answer = await shell(code.replaceAll("http://127.0.0.1:3000", url));
      expect(answer).toMatch(
        code.includes("-sN") ? /^id: ?\d+$[\s\S]*TASK_STATE_COMPLETED/m : /"result":|"supportedInterfaces":/,
      );
      expect(answer).not.toContain('"error":');
    }
  });
});

interface SentTask {
  readonly id: string;
  readonly status: { readonly state: string };
  readonly artifacts: readonly { readonly parts: readonly { readonly text: string }[] }[];
}

/** The port this server is given. */
async function freePort(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
