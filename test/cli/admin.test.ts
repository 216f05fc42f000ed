import { readFileSync, statSync } from "node:fs";
import { createServer as createReceiver } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { agent, createServer, type Server } from "palaver";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SILENT } from "../security/attack-surface.ts";
import { Terminal } from "./terminal.ts";

const echo = agent({
  ...{ id: "echo", name: "Echo", description: "Repeats.", version: "1.0.0" },
  async *run(task) {
    await task.step("think", async () => 1);
    yield task.text;
    if (task.text === "ask") yield await task.ask("Which?");
  },
});

describe("palaver admin", () => {
  let terminal: Terminal;
  let server: Server;
  let url = "";
  beforeEach(async () => {
    terminal = new Terminal();
    terminal.open();
    server = createServer(echo, {
      ...{ port: 0, logger: SILENT, store: `sqlite:${join(terminal.folder, "tasks.db")}` },
      push: { retries: 0, retryDelay: 1 },
      outgoing: { http: true, allow: ["loopback"] },
      authenticate: ({ headers }) => ({ id: headers.get("x-caller") ?? "nobody", anonymous: false }),
    });
    ({ url } = await server.listen());
  });
  afterEach(async () => {
    await server.close();
    terminal.close();
  });
  const admin = (...argv: readonly string[]) => terminal.run(["admin", ...argv, "--store", "sqlite:tasks.db"]);
  const send = async (text: string, caller: string, configuration = {}): Promise<string> => {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", "x-caller": caller },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "SendMessage" },
        params: { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }] }, configuration },
      }),
    });
    return JSON.parse(await response.text()).result.task.id;
  };

  it("answers the question of a task, and cancels a task", async () => {
    const answered = await send("ask", "ada");
    expect(await admin("answer", answered, "this one")).toMatchObject({ code: 0 });
    await expect.poll(async () => (await admin("task", answered)).stdout).toMatch(/state +completed/);
    const canceled = await send("ask", "bob");
    expect(await admin("cancel", canceled)).toMatchObject({ code: 0, stdout: `Task ${canceled} is canceled.\n` });
    expect(await admin("answer", canceled, "this one")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("asks no question"),
    });
    expect(await admin("answer", canceled, "--data", "{")).toMatchObject({ stderr: expect.stringContaining("JSON") });
  });

  it("lists the tasks of all callers by page, filter and owner, and shows one with its journal and its events", async () => {
    expect(statSync(join(terminal.folder, "tasks.db.operator.json")).mode & 0o777).toBe(0o600);
    const first = await send("hello", "ada");
    const second = await send("ask", "bob");
    const { stdout, code } = await admin("tasks");
    expect(code).toBe(0);
    expect(stdout.split("\n")[0]).toMatch(/^TASK +AGENT +STATE +OWNER +STATUS AT +EVENTS$/);
    expect(stdout).toMatch(new RegExp(`${second} +echo +input-required +bob `));
    expect(stdout).toMatch(new RegExp(`${first} +echo +completed +ada `));
    const list = async (...filter: readonly string[]): Promise<readonly string[]> =>
      (JSON.parse((await admin("tasks", "--json", ...filter)).stdout) as { tasks: { id: string }[] }).tasks.map(
        ({ id }) => id,
      );
    expect(await list("--owner", "ada")).toEqual([first]);
    expect(await list("--state", "input-required")).toEqual([second]);
    expect(await list("--agent", "nobody")).toEqual([]);
    const page = JSON.parse((await admin("tasks", "--limit", "1", "--json")).stdout);
    expect(page.tasks).toHaveLength(1);
    expect(await list("--cursor", page.next)).toEqual([first]);
    const shown = JSON.parse((await admin("task", second, "--json")).stdout);
    expect(shown.task).toMatchObject({ id: second, owner: "bob", state: "input-required" });
    expect(shown.journal).toMatchObject([{ kind: "attempt" }, { kind: "step" }, { kind: "question" }]);
    expect(JSON.stringify(shown)).not.toContain("runner");
    const text = await admin("task", first, "--events");
    expect(text.stdout).toMatch(/state +completed/);
    expect(text.stdout).toContain('{"seq":1,"event":{"status":{"state":"TASK_STATE_WORKING"');
    expect(await admin("task", "nothing")).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Task not found"),
    });
  });

  it("lists dead letters without the secrets in their URLs, and delivers them again", async () => {
    let works = false;
    const received: string[] = [];
    const receiver = createReceiver((request, response) => {
      received.push(request.url ?? "");
      response.writeHead(works ? 200 : 500).end();
    });
    await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
    try {
      const hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook?token=secret`;
      const id = await send("hello", "ada", { taskPushNotificationConfig: { id: "hook", url: hook } });
      const letters = async () => (await admin("dead-letters", "list")).stdout;
      await expect.poll(letters, { timeout: 20_000, interval: 200 }).toContain(id);
      expect(await letters()).not.toContain("secret");
      expect((await admin("webhooks", "--task", id)).stdout).toMatch(/hook +http:\/\/127\.0\.0\.1:\d+\/hook +/);
      works = true;
      received.length = 0;
      expect(await admin("dead-letters", "redeliver", id, "hook")).toMatchObject({ code: 0 });
      await expect.poll(() => received.length, { timeout: 20_000 }).toBeGreaterThan(0);
      expect(await admin("dead-letters", "redeliver", id, "other")).toMatchObject({
        code: 1,
        stderr: expect.stringContaining("Dead letter not found"),
      });
    } finally {
      receiver.close();
    }
  });

  it("shows nodes and metrics", async () => {
    await send("hello", "ada");
    expect((await admin("nodes")).stdout).toMatch(/^NODE +TASKS +LEASE UNTIL\n[\w-]{36} +0 +20/);
    const { stdout } = await admin("metrics");
    expect(stdout).toMatch(/palaver_calls_total +agent=echo operation=send dialect=1.0\/jsonrpc outcome=ok +1\n/);
    expect(stdout).toMatch(/palaver_tasks +state=completed +1\n/);
    expect((await admin("webhooks")).code).toBe(0);
  });

  it("says what to do without a token, without a server, and with the token of another store", async () => {
    const elsewhere = await terminal.run(["admin", "tasks", "--store", "sqlite:other.db"]);
    expect(elsewhere).toMatchObject({ code: 1, stderr: expect.stringContaining("There is no operator file") });
    const memory = await terminal.run(["admin", "tasks", "--store", "memory:"]);
    expect(memory.stderr).toContain("PALAVER_OPERATOR_TOKEN");
    const wrong = await terminal.run(["admin", "tasks", "--url", url], {
      env: { PALAVER_OPERATOR_TOKEN: "another-token-of-another-store" },
    });
    expect(wrong.stderr).toContain("The token belongs to another store");
    await server.close();
    expect((await admin("tasks")).stderr).toContain("No server answers at");
  });

  it("waits for the next event of a task", async () => {
    const id = await send("ask", "bob");
    const { token } = JSON.parse(readFileSync(join(terminal.folder, "tasks.db.operator.json"), "utf8"));
    const read = async (query: string) => {
      const headers = { authorization: `Bearer ${token}` };
      return JSON.parse(await (await fetch(`${url}/operator/v1/tasks/${id}/events${query}`, { headers })).text());
    };
    const { lastSeq, ended } = await read("");
    expect(ended).toBe(false);
    const waiting = read(`?after=${lastSeq}&wait=20`);
    await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0", "x-caller": "bob" },
      body: JSON.stringify({
        ...{ jsonrpc: "2.0", id: 1, method: "SendMessage" },
        params: { message: { messageId: "m2", taskId: id, role: "ROLE_USER", parts: [{ text: "this" }] } },
      }),
    });
    const { events } = await waiting;
    expect(events[0].seq).toBe(lastSeq + 1);
  });
});
