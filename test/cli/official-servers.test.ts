import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { IS_FULL } from "../fixtures/budget.ts";
import type { Binding } from "../peers/line.ts";
import { chunks } from "../remote-peers/agent-script.ts";
import type { OfficialServer, ServerLine } from "../remote-peers/server-line.ts";
import { SERVERS } from "../remote-peers/servers.ts";
import { CommandLine, type Ended } from "./command-line.ts";
import { fieldsOf, linesOf, Terminal } from "./terminal.ts";

const PLACES = SERVERS.flatMap((server) =>
  server.bindings.map((binding) => ({ name: `${server.package} ${server.version} over ${binding}`, server, binding })),
);

/** An official server, and commands that call it. In a full run each command has a process of its own. */
class Counter {
  readonly #line = new CommandLine();
  readonly #terminal = new Terminal();
  readonly #at: readonly string[];
  readonly #server: OfficialServer;

  private constructor(server: OfficialServer, version: string) {
    this.#server = server;
    this.#at = ["-a", server.url, "--a2a-version", version];
    this.#terminal.open();
  }

  static async open(line: ServerLine, binding: Binding): Promise<Counter> {
    return new Counter(await line.start({ binding }), line.protocol);
  }

  run(...words: readonly string[]): Promise<Ended> {
    return IS_FULL ? this.runProcess(...words) : this.#terminal.run([...words, ...this.#at]);
  }

  runProcess(...words: readonly string[]): Promise<Ended> {
    return this.#line.run([...words, ...this.#at]);
  }

  /** Returns the output of a command; throws unless it succeeds. */
  async text(...words: readonly string[]): Promise<string> {
    const { code, stdout, stderr } = await this.run(...words);
    if (code !== 0) throw new Error(`palaver ${words.join(" ")} ended with ${code}: ${stderr}${stdout}`);
    return stdout;
  }

  async json(...words: readonly string[]): Promise<any> {
    return JSON.parse(await this.text(...words, "-o", "json"));
  }

  async close(): Promise<void> {
    await this.#line.close();
    this.#terminal.close();
    await this.#server.close();
  }
}

/** The texts of all parts of a task's artifacts. */
function textIn(task: { readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[] }) {
  return (task.artifacts ?? []).flatMap(({ parts }) => parts.map(({ text }) => text)).join("");
}

describe.each(PLACES)("the command line and $name", { timeout: 120_000 }, ({ server, binding }) => {
  let counter: Counter;
  beforeAll(async () => {
    counter = await Counter.open(server, binding);
  });
  afterAll(() => counter.close());

  // These commands behave the same over every binding, so one binding is enough.
  const isOnce = binding === "JSONRPC";

  it.runIf(isOnce)("shows the card", async () => {
    const [text, json] = await Promise.all([counter.text("card", "get"), counter.json("card", "get")]);
    expect(fieldsOf(text)).toMatchObject({ Name: "Peer" });
    expect(json).toMatchObject({
      name: "Peer",
      supportedInterfaces: [expect.objectContaining({ protocolBinding: binding })],
    });
  });

  it("sends a message and prints the result", async () => {
    const [text, json, message] = await Promise.all([
      counter.text("send", "hello there"),
      counter.json("send", "chunks 4"),
      counter.json("send", "message"),
    ]);
    expect(fieldsOf(text)).toMatchObject({ Task: expect.any(String), State: "TASK_STATE_COMPLETED" });
    expect(text).toContain("hello there");
    expect(json.task.status.state).toBe("TASK_STATE_COMPLETED");
    expect(textIn(json.task)).toBe(chunks(4));
    expect(message).toMatchObject({ message: { parts: [{ text: "just a message" }] } });
  });

  it.runIf(isOnce || IS_FULL)("streams to a process of its own", async () => {
    const { code, stdout } = await counter.runProcess("send", "chunks 20", "--stream");
    expect({ code, State: fieldsOf(stdout)["State"] }).toEqual({ code: 0, State: "TASK_STATE_COMPLETED" });
    expect(stdout).toContain(`Text:\n${chunks(20)}\n`);
  });

  it("streams", async () => {
    const [text, json] = await Promise.all([
      counter.text("send", "chunks 20", "--stream"),
      counter.text("send", "chunks 20", "--stream", "-o", "json"),
    ]);
    expect(text).toContain(`Text:\n${chunks(20)}\n`);
    expect(fieldsOf(text)["State"]).toBe("TASK_STATE_COMPLETED");
    const pieces = linesOf(json).flatMap(({ artifactUpdate }) => artifactUpdate?.artifact.parts ?? []);
    expect(pieces.map(({ text: piece }) => piece).join("")).toBe(chunks(20));
  });

  it.runIf(isOnce)("prints a question, and continues the same task with the answer", async () => {
    const asked = await counter.text("send", "ask");
    const { Task: id = "", Resume: resume } = fieldsOf(asked);
    expect(fieldsOf(asked)["State"]).toBe("TASK_STATE_INPUT_REQUIRED");
    // The printed command can be copied.
    expect(resume).toMatch(new RegExp(`^palaver send -a \\S+ --a2a-version ${server.protocol} --task-id ${id} `));
    const { task } = await counter.json("send", "the red one", "--task-id", id);
    expect(task).toMatchObject({ id, status: { state: "TASK_STATE_COMPLETED" } });
  });

  it("follows, gets and cancels a task", async () => {
    const { task } = await counter.json("send", "hang", "--async");
    const following = counter.run("task", "subscribe", task.id, "--stream", "-o", "json");
    const got = await counter.json("task", "get", task.id);
    expect(got).toMatchObject({ id: task.id, status: { state: "TASK_STATE_WORKING" } });
    const canceled = fieldsOf(await counter.text("task", "cancel", task.id));
    // Servers of 0.2 do not wait until the task is canceled.
    const states = server.protocol === "0.2" ? /_(WORKING|CANCELED)$/ : /_CANCELED$/;
    expect(canceled).toMatchObject({ Task: task.id, State: expect.stringMatching(states) });
    const followed = await following;
    expect(followed).toMatchObject({ code: 0, stderr: expect.not.stringContaining("Error") });
    expect(JSON.stringify(linesOf(followed.stdout).at(-1))).toContain("TASK_STATE_CANCELED");
    expect(fieldsOf(await counter.text("task", "get", task.id, "--wait"))["State"]).toBe("TASK_STATE_CANCELED");
    const repeated = await counter.run("task", "cancel", task.id, "-o", "json");
    if (server.rules.repeatedCancel === "the task") expect(repeated.code).toBe(0);
    else expect(JSON.parse(repeated.stdout).error.code).toBe("TaskNotCancelableError");
  });

  it.runIf(isOnce)("lists tasks, or reports that the agent cannot", async () => {
    const { code, stdout } = await counter.run("task", "list", "-o", "json");
    const { tasks, error } = JSON.parse(stdout);
    if (server.lacks.lists === undefined) {
      expect(code).toBe(0);
      expect(tasks.length).toBeGreaterThan(0);
      expect(fieldsOf(await counter.text("task", "list"))["Total"]).toMatch(/^\d+$/);
    } else {
      expect(code).not.toBe(0);
      expect(error).toMatchObject({ code: expect.stringMatching(/^\w+Error$/), message: expect.any(String) });
    }
  });

  it.runIf(isOnce)("creates, lists and deletes webhooks", async () => {
    const { task } = await counter.json("send", "hang", "--async");
    const url = "https://hooks.example.org/a2a";
    const created = await counter.json("task", "push-config", "create", task.id, "--url", url);
    expect(created).toMatchObject({ taskId: task.id, url });
    expect(fieldsOf(await counter.text("task", "push-config", "get", task.id))).toMatchObject({ URL: url });
    const listed = await counter.run("task", "push-config", "list", task.id);
    if (server.lacks["push-many"] !== undefined) {
      expect(listed).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("MethodNotFoundError") });
      return;
    }
    expect(fieldsOf(listed.stdout)).toMatchObject({ URL: url, Total: "1" });
    const configId = fieldsOf(listed.stdout)["Config"] ?? "";
    const removed = await counter.text("task", "push-config", "delete", task.id, "--config-id", configId);
    expect(fieldsOf(removed)).toMatchObject({ Deleted: "yes" });
    expect(await counter.json("task", "push-config", "list", task.id)).toMatchObject({ configs: [] });
  });

  it.runIf(isOnce)("reports an unknown task with a clear error", async () => {
    const { code, stdout, stderr } = await counter.run("task", "get", "no-such-task");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toContain("Code: TaskNotFoundError");
  });
});
