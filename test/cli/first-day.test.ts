import { readdirSync } from "node:fs";
import { createServer } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { fieldsOf, Terminal } from "./terminal.ts";
import { startWorld } from "./world.ts";

const NPX = { npm_command: "exec", npm_lifecycle_event: "npx" };

let world: Awaited<ReturnType<typeof startWorld>>;
const terminal = new Terminal();
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.server.close());
beforeEach(() => terminal.open());
afterEach(() => terminal.close());

const at = (id: string): string[] => ["-a", `${world.url}/agents/${id}`];

/** Splits a command line like a shell, as far as these commands need it. */
function wordsOf(command: string): string[] {
  return [...command.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? "",
  );
}

describe("the printed command for the next page", () => {
  it("keeps filters and page size, and works when pasted", async () => {
    const sent = await terminal.run(["send", "Hello", "--context-id", "ctx 1", ...at("echo")]);
    expect(sent.code).toBe(0);
    await terminal.run(["send", "Hello", "--context-id", "ctx 1", ...at("echo")]);
    const filters = [
      "--context-id",
      "ctx 1",
      "--status",
      "completed",
      "--since",
      "2h",
      "--page-size",
      "1",
      "--artifacts",
      "--history",
      "2",
    ];
    const first = await terminal.run(["task", "list", ...filters, ...at("echo")], { env: NPX });
    const resume = fieldsOf(first.stdout)["Resume"] ?? "";
    expect(resume).toMatch(/^npx palaver task list -a /);
    for (const option of [
      "--context-id 'ctx 1'",
      "--status completed",
      "--since 2h",
      "--page-size 1",
      "--artifacts",
      "--history 2",
    ])
      expect(resume).toContain(option);
    const second = await terminal.run(wordsOf(resume).slice(2));
    expect(second.code).toBe(0);
    expect(fieldsOf(second.stdout)["Task"]).not.toBe(fieldsOf(first.stdout)["Task"]);
    expect(fieldsOf(second.stdout)["Context"]).toBe("ctx 1");
  });
});

describe("hints", () => {
  it("show the program name as it was started, in errors, help and resume lines", async () => {
    const env = { npm_command: "run", npm_lifecycle_event: "palaver" };
    const sent = await terminal.run(["send", "Hello", ...at("echo")], { env });
    expect(fieldsOf(sent.stdout)["Resume"]).toMatch(/^npm run -s palaver -- send /);
    expect((await terminal.run(["send", "--help"], { env: NPX })).stdout).toContain('npx palaver send "Hello"');
    expect((await terminal.run(["serve"], { env: NPX })).stderr).toContain("npx palaver serve --demo");
    expect((await terminal.run(["task", "get"], { env: NPX })).stderr).toContain("npx palaver task list");
    expect((await terminal.run(["send", "Hello", ...at("echo")])).stdout).toContain("Resume: palaver send ");
  });

  it("contain the id of the task", async () => {
    const sent = await terminal.run(["send", "Hello", ...at("echo")]);
    const id = fieldsOf(sent.stdout)["Task"] ?? "";
    const { stderr } = await terminal.run(["task", "cancel", id, ...at("echo")]);
    const command = /palaver (.*)$/.exec(fieldsOf(stderr)["Hint"] ?? "")?.[1] ?? "";
    expect(command).toContain(id);
    const again = await terminal.run(wordsOf(command));
    expect(fieldsOf(again.stdout)).toMatchObject({ Task: id, State: "TASK_STATE_COMPLETED" });
  });

  it("explain https:// used for a port that answers in plain HTTP", async () => {
    const { code, stderr } = await terminal.run(["card", "get", "-a", world.url.replace("http:", "https:")]);
    expect(code).toBe(3);
    expect(fieldsOf(stderr)["Hint"]).toBe(
      "That port answers in plain HTTP, not HTTPS. Use http:// instead of https://.",
    );
  });

  it("do not mention HTTPS if nothing listens", async () => {
    const probe = createServer().listen(0);
    const address = probe.address();
    const port = typeof address === "object" ? address?.port : 0;
    await new Promise((done) => probe.close(done));
    const { stderr } = await terminal.run(["card", "get", "-a", `https://127.0.0.1:${port}`]);
    expect(fieldsOf(stderr)["Hint"]).toContain("Is the agent running");
  });
});

describe("the help of --context-id and --task-id", () => {
  it.each([
    [["send"], /--context-id <id> +start a new task in this context/, /--task-id <id> +continue this task/],
    [["task", "list"], /--context-id <id> +only tasks of this context/, undefined],
    [["task", "get"], undefined, /--task-id <id> +the task, instead of the argument/],
    [["task", "cancel"], undefined, /--task-id <id> +the task, instead of the argument/],
  ])("describes them for %j", async (command, context, task) => {
    const { stdout } = await terminal.run([...command, "--help"]);
    if (context !== undefined) expect(stdout).toMatch(context);
    if (task !== undefined) expect(stdout).toMatch(task);
  });
});

describe("the help of serve", () => {
  it("groups its options", async () => {
    const { stdout } = await terminal.run(["serve", "--help"]);
    const groups = stdout.split(/^(?=\S.*:$)/m).filter((group) => /^ {2}-/m.test(group));
    expect(groups.map((group) => group.slice(0, group.indexOf("\n")))).toEqual([
      "Options:",
      "Network:",
      "Storage:",
      "Authentication and TLS:",
      "Limits:",
      "Webhooks:",
      "Protocol versions:",
      "Logging and traces:",
      "Operators:",
    ]);
    for (const group of groups) expect(group.match(/^ {2}-/gm)?.length).toBeLessThan(15);
  });
});

describe("options that people get wrong", () => {
  it("refuse an unknown binding", async () => {
    const { code, stderr } = await terminal.run(["send", "Hello", "--transport", "bogus", ...at("echo")]);
    expect(code).toBe(2);
    expect(stderr).toContain(
      '--transport must be one of jsonrpc, rest, http+json, grpc, plain, or the URI of a binding, not "bogus".',
    );
    for (const name of ["JSON-RPC", "HTTP+JSON", "rest"]) {
      expect((await terminal.run(["send", "Hello", "--transport", name, ...at("echo")])).code, name).toBe(0);
    }
  });

  it("accept JSON as typed for --data", async () => {
    const { code, stdout } = await terminal.run(["send", "--data", '{"x":1}', "-o", "json", ...at("echo")]);
    expect(code).toBe(0);
    expect(stdout).toMatch(/"x": 1/);
    const broken = await terminal.run(["send", "--data", '{"x":', ...at("echo")]);
    expect(broken).toMatchObject({ code: 2, stderr: expect.stringContaining('--data {"x": is not valid JSON') });
    const missing = await terminal.run(["send", "--data", "order.json", ...at("echo")]);
    expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining("order.json cannot be read") });
  });

  it("let init fail at once if the folder cannot be created", async () => {
    const { code, stderr } = await terminal.run(["init", "/proc/palaver-test"]);
    expect(code).toBe(2);
    expect(stderr).toContain("The folder /proc/palaver-test could not be created");
    expect(readdirSync(terminal.folder)).toEqual([]);
  });
});
