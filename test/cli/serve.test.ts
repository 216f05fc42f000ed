import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { ROOT } from "../architecture/imports.ts";
import { codeBlocks } from "../docs/code-blocks.ts";
import { IS_FULL } from "../fixtures/budget.ts";
import { CommandLine, type Ended } from "./command-line.ts";
import { Terminal } from "./terminal.ts";

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

/** Runs a command in this process, and in a full run in a process of its own. */
const run = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> => {
  if (IS_FULL) return line.run(args, env);
  const terminal = new Terminal();
  terminal.open();
  try {
    return await terminal.run(args, { env });
  } finally {
    terminal.close();
  }
};

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

  it("exits with 2 for invalid arguments, as a process", async () => {
    const { code, stderr } = await line.run(["serve", "--demo", "--public-url", "x"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("public URL must be like") });
  });

  it.each([
    [["serve"], /No module is given[\s\S]*--demo/],
    [["serve", "--demo", "--port", "many"], /whole number/],
    [["serve", "--demo", "--durability", "some"], /Allowed choices are full, process/],
    [["serve", "--demo", "--store", "redis://x"], /must be memory:, sqlite:FILE or postgres:\/\/…, not "redis:\/\/x"/],
    [["serve", "--demo", "--public-url", "x"], /public URL must be like/],
    [["serve", "--demo", "--trusted-proxies", "loopback,x"], /"x" is no trusted proxy/],
    [["serve", "--demo", "--cors-origin", "x"], /origin must be like/],
    [["serve", "--demo", "--card", "both"], /Allowed choices are hybrid, strict/],
    [["serve", "--demo", "--error-profile", "2"], /Allowed choices are/],
    [["serve", "--demo", "--blocking-default", "wait"], /blockingDefault has the unknown key "wait"\. Allowed keys: /],
    [
      ["serve", "--demo", "--versions", "1.0,3.0"],
      /versions contains the unknown version "3\.0"\. Known versions: 1\.0, .*plain/,
    ],
    [["serve", "--demo", "--versions", "plain"], /versions must contain at least one A2A version/],
    [["serve", "--demo", "--assume-version", "1.0"], /Allowed choices are 0\.3, 0\.2/],
    [["serve", "--dmeo"], /unknown option '--dmeo'[\s\S]*--demo/],
    [["sevre"], /unknown command 'sevre'[\s\S]*serve/],
  ])("exits with 2 for the invalid arguments %j", async (args, message) => {
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toMatch(message);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });
});

describe("the error of palaver serve", () => {
  const refusal = async (args: readonly string[]) => {
    const { code, stdout, stderr } = await run(["serve", ...args, "--port", "0"]);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(stderr.trimEnd().split("\n").length).toBeLessThanOrEqual(2);
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    return stderr;
  };
  const pathOf = (name: string): string => join(line.folder, name);
  const storeIn = (name: string): readonly string[] => ["--store", `sqlite:${pathOf(name)}`];

  it.each([
    ["a module that is not there", undefined, /There is no module .*agent\.mjs/],
    ["a module that throws", 'throw new Error("API key missing")', /agent\.mjs could not be loaded: .*API key missing/],
    ["a module that exports nothing", "", /agent\.mjs exports no agent/],
  ])("describes the problem with %s", async (_, source, message) => {
    if (source !== undefined) file("agent.mjs", source);
    expect(await refusal([pathOf("agent.mjs")])).toMatch(message);
  });

  it("contains the stack of a module's error with --verbose or DEBUG", async () => {
    const agent = pathOf(file("agent.mjs", 'throw new Error("API key missing")'));
    expect((await run(["serve", agent, "--verbose"])).stderr).toMatch(/at .*agent\.mjs:1/);
    expect((await run(["serve", agent], { DEBUG: "1" })).stderr).toMatch(/at .*agent\.mjs:1/);
  });

  it("names the port in use, and the store is not locked", async () => {
    const other = createServer();
    const port = await freePort(other);
    try {
      const { code, stderr } = await run(["serve", "--demo", "--port", String(port), ...storeIn("tasks.db")]);
      expect(stderr).toMatch(new RegExp(`Port ${port} .* is in use[\\s\\S]*--port`));
      expect(code).toBe(1);
    } finally {
      other.close();
    }
    await expectUnlocked("tasks.db");
  });

  it("says that the file is not a database", async () => {
    file("tasks.db", "This is not a database, whatever its name says. ".repeat(200));
    expect(await refusal(["--demo", ...storeIn("tasks.db")])).toMatch(/tasks\.db/);
  });

  it("says that the folder is not writable", async () => {
    mkdirSync(pathOf("data"));
    file("data/file", "");
    expect(await refusal(["--demo", ...storeIn("data/file/tasks.db")])).toMatch(/cannot be written to[\s\S]*--store/);
  });

  it("names a capability that the agent's card declares and the server does not support", async () => {
    file("agent.mjs", AGENT.replace("version:", "capabilities: { pushNotifications: true }, version:"));
    const { code, stderr } = await run(["serve", pathOf("agent.mjs"), "--no-push", ...storeIn("tasks.db")]);
    expect(stderr).toMatch(
      /^palaver: Agent "hello" declares capabilities\.pushNotifications, but .* Set it to false, or .*\.\n$/,
    );
    expect(code).toBe(2);
  });

  it("says that two agents have the same id", async () => {
    file("one.mjs", AGENT);
    file("two.mjs", AGENT);
    const { code, stderr } = await run(["serve", pathOf("one.mjs"), pathOf("two.mjs"), ...storeIn("tasks.db")]);
    expect(stderr).toMatch(/Two agents have the id "hello"/);
    expect(code).toBe(2);
  });
});

describe("palaver serve", () => {
  const shell = async (command: string) => (await promisify(execFile)("sh", ["-c", command])).stdout;

  it("serves a module's agent, and prints an example command that works when pasted", async () => {
    const { url, stdout } = await line.serve([file("agent.mjs", AGENT), "--store", "memory:"]);
    const text = stdout();
    expect(text).toContain(`${url}/agents/hello/`);
    const answer = { task: { artifacts: [{ parts: [{ text: "Hello, Hello" }] }] } };
    const commands = Array.from(text.matchAll(/^Try ([\w-]+): ([\s\S]*?'\n)/gm), ([, name, command = ""]) => ({
      name,
      command,
    }));
    expect(commands.map(({ name }) => name)).toEqual(["JSON-RPC", "REST"]);
    for (const { name, command } of commands) {
      expect(JSON.parse(await shell(command))).toMatchObject(name === "REST" ? answer : { result: answer });
    }
  });

  it("serves modules of the repository, which import the package by its name", async () => {
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

  it("listens on PORT and BIND_HOST, and its cards contain that address", async () => {
    const other = createServer();
    const port = await freePort(other);
    await new Promise((resolve) => other.close(resolve));
    const { url } = await line.serve(["--demo", "--store", "memory:"], { PORT: String(port), BIND_HOST: "0.0.0.0" });
    expect(url).toBe(`http://localhost:${port}`);
    const card = await (await fetch(`${url}/agents/booking/.well-known/agent-card.json`)).json();
    expect(card).toMatchObject({
      name: "Table booking",
      url: `${url}/agents/booking/a2a`,
      supportedInterfaces: expect.arrayContaining([expect.objectContaining({ url: `${url}/agents/booking/` })]),
    });
  });

  it("puts the public URL of its option into its cards", async () => {
    const environment = { PUBLIC_URL: "https://env.example.org", A2A_CARD: "hybrid" };
    const flags = ["--public-url", "https://agents.example.org/a/", "--card", "strict"];
    const shown = async (args: readonly string[]): Promise<unknown> => {
      const { url, stdout } = await line.serve(["--demo", "--store", "memory:", ...args], environment);
      const card: unknown = await (await fetch(`${url}/.well-known/agent-card.json`)).json();
      const { supportedInterfaces, url: older } = card as { supportedInterfaces: { url: string }[]; url?: string };
      return [supportedInterfaces[0]?.url, older, /^Public: (.*)$/m.exec(stdout())?.[1]];
    };
    expect(await shown(flags)).toEqual(["https://agents.example.org/a/", undefined, "https://agents.example.org/a"]);
    expect(await shown([])).toEqual([
      "https://env.example.org/",
      "https://env.example.org/a2a",
      "https://env.example.org",
    ]);
  });

  it("accepts its flags in any position", async () => {
    const waiting = AGENT.replace("return", "await new Promise(() => {}); return");
    const flags = [
      ...["--cors-origin", "https://a.example", file("agent.mjs", waiting), "--cors-origin", "https://b.example"],
      ...["--trusted-proxies", "loopback", "--no-lenient", "--blocking-default", "0.3/jsonrpc=return"],
    ];
    const { url } = await line.serve([...flags, "--store", "memory:"]);
    const message = { messageId: "1", role: "user", kind: "message", parts: [{ kind: "text", text: "Ada" }] };
    const call = async (method: string, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(`${url}/`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: { message } }),
      });
    for (const origin of ["https://a.example", "https://b.example"]) {
      const response = await call("message/send", { origin });
      expect(response.headers.get("access-control-allow-origin")).toBe(origin);
      expect(await response.json()).toMatchObject({
        result: { status: { state: expect.stringMatching(/submitted|working/) } },
      });
    }
    expect(await (await call("SendMessage")).json()).toMatchObject({ error: { code: -32601 } });
    const card = await fetch(`${url}/.well-known/agent-card.json`, { headers: { "x-forwarded-host": "c.example" } });
    expect(await card.json()).toMatchObject({ url: "http://c.example/a2a" });
  });

  it("treats requests without a version as the version of its option", async () => {
    const agent = file("agent.mjs", AGENT);
    const message = { messageId: "1", role: "user", taskId: "mine", parts: [{ kind: "text", text: "Ada" }] };
    const send = async (args: readonly string[], env: Record<string, string> = {}): Promise<unknown> => {
      const { url, kill } = await line.serve([agent, "--store", "memory:", ...args], env);
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "message/send", params: { message } });
      const headers = { "content-type": "application/json" };
      const answer: unknown = await (await fetch(url, { method: "POST", headers, body })).json();
      await kill("SIGTERM");
      return answer;
    };
    const named = { result: { kind: "task", id: "mine", status: { state: "completed" } } };
    expect(await send([], { A2A_ASSUME_VERSION: "0.2" })).toMatchObject(named);
    expect(await send(["--assume-version", "0.3"], { A2A_ASSUME_VERSION: "0.2" })).toMatchObject({
      error: { code: -32001 },
    });
  });

  it("supports only the versions of its option, and lists them in its error", async () => {
    const { url, stdout } = await line.serve(["--demo", "--store", "memory:", "--versions", "0.2, plain"]);
    expect(stdout()).toMatch(/^Supports: A2A over JSON-RPC 0\.2 · plain 1\.0$/m);
    expect(stdout()).not.toContain("curl");
    const status = async (path: string, body?: object): Promise<number> => {
      const headers = { "content-type": "application/json" };
      const init = body === undefined ? {} : { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(url + path, init)).status;
    };
    expect(await status("/a2a/tasks/send", { message: "Hello" })).toBe(200);
    expect(await status("/message:send", { message: "Hello" })).toBe(404);
    expect(await status("/v1/message:send", { message: "Hello" })).toBe(404);
    const card: unknown = await (await fetch(`${url}/.well-known/agent.json`)).json();
    expect(card).toMatchObject({ protocolVersion: "0.2.6" });
  });

  it.each(["SIGTERM", "SIGINT"] as const)("exits with 0 on %s and unlocks its store", async (signal) => {
    const { kill } = await line.serve(["--demo", "--store", "sqlite:tasks.db"]);
    expect(await kill(signal)).toMatchObject({ code: 0 });
    await expectUnlocked("tasks.db");
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
        code.includes("-sN")
          ? /^id: ?\d+$[\s\S]*TASK_STATE_COMPLETED/m
          : /"(?:result|tasks?|state|supportedInterfaces|protocolVersion)":/,
      );
      expect(answer).not.toContain('"error":');
    }
  });
});

/** Opens a store in the folder, which is refused while another process or another store of this process uses it. */
async function expectUnlocked(name: string): Promise<void> {
  const store = await openSqliteStore({ file: join(line.folder, name) });
  await store.close();
}

interface SentTask {
  readonly id: string;
  readonly status: { readonly state: string };
  readonly artifacts: readonly { readonly parts: readonly { readonly text: string }[] }[];
}

/** The port that the server listens on. */
async function freePort(server: Server): Promise<number> {
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}
