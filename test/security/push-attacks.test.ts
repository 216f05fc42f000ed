import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { byName, openTarget, sendParams, type Target } from "./attack-surface.ts";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "palaver-attack-"));
  folders.push(path);
  return path;
}

async function taskOf(target: Target, as: string): Promise<string> {
  const sent = await target.rpc("SendMessage", sendParams("ask"), { as });
  return ((await sent.json()) as { result: { task: { id: string } } }).result.task.id;
}

describe("Attack: making the server call internal addresses", () => {
  it.each([
    "http://example.com/hook",
    "https://127.0.0.1/hook",
    "https://127.1/hook",
    "https://2130706433/hook",
    "https://0x7f000001/hook",
    "https://017700000001/hook",
    "https://0.0.0.0/hook",
    "https://[::1]/hook",
    "https://[::ffff:127.0.0.1]/hook",
    "https://[::ffff:7f00:1]/hook",
    "https://[64:ff9b::7f00:1]/hook",
    "https://[fd00::1]/hook",
    "https://169.254.169.254/latest/meta-data/",
    "https://[fd00:ec2::254]/latest/",
    "https://metadata.google.internal/computeMetadata/v1/",
    "https://10.0.0.1/",
    "https://192.168.1.1/",
    "https://172.16.0.1/",
    "https://localhost/",
    "https://localhost./",
    "https://app.localhost/",
    "https://intranet/",
    "https://user:secret@example.com/",
    "https://example.com:22/",
    "https://example.com:6379/",
    "ftp://example.com/",
    "file:///etc/passwd",
    "gopher://example.com/",
    "javascript:alert(1)",
    "//example.com/",
    "not a url",
    "",
    `https://example.com/${"x".repeat(10_000)}`,
  ])("by the webhook %s is refused before it is stored", async (url) => {
    await using target = await openTarget({ authenticate: byName });
    const id = await taskOf(target, "ada");
    const runs = target.runs();
    const created = await target.rpc("CreateTaskPushNotificationConfig", { taskId: id, url }, { as: "ada" });
    expect(await created.json()).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("url"), data: expect.any(Array) },
    });
    const configuration = { taskPushNotificationConfig: { url } };
    const inline = await target.rpc("SendMessage", { ...sendParams("hi"), configuration }, { as: "ada" });
    expect(await inline.json()).toMatchObject({ error: { code: -32602, message: expect.stringContaining("url") } });
    expect(target.runs()).toBe(runs);
    const listed = await target.rpc("ListTaskPushNotificationConfigs", { taskId: id }, { as: "ada" });
    expect(await listed.json()).toMatchObject({ result: { configs: [] } });
  });
});

describe("Attack: header injection", () => {
  const early = { "a2a-version": "0.3" };

  it.each([
    ["X-Evil", "a\r\nHost: internal"],
    ["X-Evil", "a\nb"],
    ["X-Evil", "a\u0000b"],
    ["X\r\nEvil", "a"],
    ["X Evil", "a"],
    ["", "a"],
    ["Host", "internal.example"],
    ["Content-Length", "0"],
    ["Transfer-Encoding", "chunked"],
    ["Connection", "upgrade"],
    ["Content-Type", "text/html"],
    ["X-A2A-Notification-Signature", "forged"],
    ["X-A2A-Notification-Token", "forged"],
    ["Proxy-Authorization", "Basic x"],
  ])("%j: %j is refused, and the error names the header", async (name, value) => {
    await using target = await openTarget({ authenticate: byName });
    const taskId = await taskOf(target, "ada");
    const pushNotificationConfig = { url: "https://hooks.example.com/", headers: { [name]: value } };
    const set = await target.rpc(
      "tasks/pushNotificationConfig/set",
      { taskId, pushNotificationConfig },
      { as: "ada", headers: early },
    );
    expect(await set.json()).toMatchObject({ error: { code: -32602, message: expect.stringContaining("headers") } });
  });

  it.each(["token", "credentials"])("is not possible with a %s either", async (member) => {
    await using target = await openTarget({ authenticate: byName });
    const taskId = await taskOf(target, "ada");
    const evil = "x\r\nHost: internal";
    const secret = member === "token" ? { token: evil } : { authentication: { scheme: "Bearer", credentials: evil } };
    const params = { taskId, url: "https://hooks.example.com/", ...secret };
    const created = await target.rpc("CreateTaskPushNotificationConfig", params, { as: "ada" });
    expect(await created.json()).toMatchObject({ error: { code: -32602, message: expect.stringContaining(member) } });
  });
});

describe("Attack: reading the secrets of a webhook", () => {
  it("finds them neither in responses, nor on disk, nor in logs", async () => {
    const place = folder();
    const secrets = ["t0ken-of-the-hook", "cr3dentials-of-the-hook", "h3ader-of-the-hook"];
    const lines: string[] = [];
    const note = (message: string, details?: object): void => {
      lines.push(
        message + JSON.stringify(details, (_, value: unknown) => (value instanceof Error ? String(value) : value)),
      );
    };
    await using target = await openTarget({
      authenticate: byName,
      store: `sqlite:${join(place, "palaver.db")}`,
      audit: join(place, "audit.jsonl"),
      logger: { debug: note, info: note, warn: note, error: note },
      push: { retries: 0, timeout: 200 },
    });
    const taskId = await taskOf(target, "ada");
    const pushNotificationConfig = {
      url: "https://hooks.example.invalid/notify?key=h3ader-of-the-hook",
      token: secrets[0],
      authentication: { schemes: ["Bearer"], credentials: secrets[1] },
      headers: { "X-Key": secrets[2] },
    };
    const headers = { "a2a-version": "0.3" };
    const answers: string[] = [];
    for (const [method, params] of [
      [
        "tasks/pushNotificationConfig/set",
        { taskId, pushNotificationConfig: { ...pushNotificationConfig, url: "https://hooks.example.com/notify" } },
      ],
      ["tasks/pushNotificationConfig/get", { id: taskId }],
      ["tasks/pushNotificationConfig/list", { id: taskId }],
      ["tasks/get", { id: taskId }],
    ] as const) {
      const answer = await target.rpc(method, params, { as: "ada", headers });
      expect(answer.status).toBe(200);
      answers.push(await answer.text());
    }
    await (await target.rpc("CancelTask", { id: taskId }, { as: "ada" })).text();
    await target.server.close();
    const kept = readdirSync(place).map((name) => readFileSync(join(place, name), "latin1"));
    expect(kept.length).toBeGreaterThan(1);
    expect(answers[1]).toContain("hooks.example.com");
    for (const secret of secrets) {
      for (const text of [...answers, ...kept, ...lines]) expect(text).not.toContain(secret);
    }
  });
});

describe("Attack: unlimited webhooks", () => {
  it("is stopped by a limit", async () => {
    await using target = await openTarget({ authenticate: byName, push: { maxWebhooksPerTask: 3 } });
    const taskId = await taskOf(target, "ada");
    const create = (index: number): Promise<Response> =>
      target.rpc(
        "CreateTaskPushNotificationConfig",
        { taskId, id: `c-${index}`, url: "https://hooks.example.com/" },
        { as: "ada" },
      );
    for (let index = 0; index < 3; index++) expect(await (await create(index)).json()).toHaveProperty("result");
    expect(await (await create(3)).json()).toMatchObject({ error: { code: -32053 } });
    // Setting an existing webhook again does not count.
    expect(await (await create(2)).json()).toHaveProperty("result");
  });
});

describe("Attack: a receiver that sends an endless response", () => {
  it("takes a limited time and does not affect the task", async () => {
    const received: string[] = [];
    const endless = createServer((request, response) => {
      received.push(request.url ?? "");
      request.resume();
      response.writeHead(200, { "content-type": "text/plain" });
      const timer = setInterval(() => response.write("x".repeat(100_000)), 1);
      response.on("close", () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => endless.listen(0, "127.0.0.1", resolve));
    const { port } = endless.address() as AddressInfo;
    try {
      await using target = await openTarget({
        outgoing: { http: true, allow: [`127.0.0.1:${port}`] },
        push: { retries: 0, timeout: 2000 },
      });
      const configuration = { taskPushNotificationConfig: { url: `http://127.0.0.1:${port}/endless` } };
      const sent = await target.rpc("SendMessage", { ...sendParams("hi"), configuration });
      expect(await sent.json()).toMatchObject({ result: { task: { status: { state: "TASK_STATE_COMPLETED" } } } });
      await expect.poll(() => received.length, { timeout: 10_000 }).toBeGreaterThan(0);
      const before = process.memoryUsage.rss();
      await expect.poll(() => received.length, { timeout: 10_000 }).toBeGreaterThan(1);
      expect(process.memoryUsage.rss() - before).toBeLessThan(100_000_000);
    } finally {
      endless.closeAllConnections();
      endless.close();
    }
  });
});

describe("Attack: forged lines in the audit log", () => {
  it("stay escaped within one line", async () => {
    const file = join(folder(), "audit.jsonl");
    const forged = '\n{"forged":true}\n';
    await using target = await openTarget({
      audit: file,
      authenticate: () => ({ id: `eve${forged}`, anonymous: false }),
    });
    await (await target.rpc("GetTask", { id: `x${forged}` })).text();
    await (await target.rpc(`Nothing${forged}`, {})).text();
    await (await target.rest(`GET /tasks/${encodeURIComponent(`y${forged}`)}`)).text();
    await (await target.rest(`GET /${encodeURIComponent(`z${forged}`)}/tasks/x`)).text();
    await target.server.close();
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    expect(lines).toHaveLength(4);
    for (const line of lines) expect(JSON.parse(line)).not.toHaveProperty("forged");
  });
});
