import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Agent, agent, createServer, type ServerOptions } from "../../src/index.ts";
import { type Answer, ask, must, sendParams, type Task } from "../e2e/rpc.ts";
import { until } from "../e2e/workbench.ts";
import { claimsOf, Receiver } from "./receiver.ts";

const echo = agent({ name: "Echo", description: "Echoes.", version: "1", run: async (task) => task.text });
const asker = agent({
  name: "Asker",
  description: "Asks.",
  version: "1",
  run: async (task) => `${task.text} ${await task.ask("And?")}`,
});
const mute = agent({
  ...{ name: "Mute", description: "Notifies nobody.", version: "1", run: async () => "m" },
  capabilities: { pushNotifications: false },
});
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

let receiver: Receiver;
let closing: (() => Promise<void>)[];
beforeEach(async () => {
  receiver = await Receiver.open();
  closing = [() => receiver.close()];
});
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
});

async function serve(served: Agent | Agent[], options: ServerOptions = {}): Promise<string> {
  const outgoing = { http: true, allow: ["loopback"] };
  const server = createServer(served, { store: "memory:", port: 0, outgoing, logger: SILENT, ...options });
  closing.push(() => server.close());
  return (await server.listen()).url;
}

async function send(url: string, configuration: object = {}, message: object = {}): Promise<Task> {
  return (await must<{ task: Task }>(url, "SendMessage", sendParams("hi", { configuration, message }))).task;
}

const fieldsOf = ({ error }: Answer<unknown>): unknown =>
  (error?.data as unknown as { fieldViolations?: { field: string }[] }[] | undefined)?.flatMap(
    ({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field),
  );

describe("Webhooks", () => {
  it("are set, read, listed in pages and deleted", async () => {
    const url = await serve(asker);
    const { id: taskId } = await send(url);
    const hook = { taskId, url: `${receiver.url}/hook`, token: "tok" };
    for (const id of ["a", "b", "c"]) {
      const made = await must<object>(url, "CreateTaskPushNotificationConfig", { ...hook, id });
      expect(made).toMatchObject({ id, taskId, url: hook.url, token: "***" });
    }
    const get = (id: string) => ask<object>(url, "GetTaskPushNotificationConfig", { taskId, id });
    expect((await get("b")).result).toMatchObject({ id: "b", token: "***" });
    const list = (extra: object) =>
      must<{ configs: { id: string }[]; nextPageToken?: string }>(url, "ListTaskPushNotificationConfigs", {
        taskId,
        ...extra,
      });
    const first = await list({ pageSize: 2 });
    const second = await list({ pageSize: 2, pageToken: first.nextPageToken });
    expect([first, second].map(({ configs }) => configs.map(({ id }) => id))).toEqual([["a", "b"], ["c"]]);
    expect(second.nextPageToken ?? "").toBe("");
    for (let times = 0; times < 2; times++) {
      expect((await ask(url, "DeleteTaskPushNotificationConfig", { taskId, id: "b" })).error).toBeUndefined();
    }
    expect((await list({})).configs.map(({ id }) => id)).toEqual(["a", "c"]);
    expect((await get("b")).error).toMatchObject({ code: -32001 });
  });

  it("may come with the message, also with a later one, and are notified from then on", async () => {
    const url = await serve(asker);
    const task = await send(url, { taskPushNotificationConfig: { url: `${receiver.url}/first` } });
    expect(task.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
    const of = (path: string) => receiver.received.filter((received) => received.path === path);
    await until(() => of("/first").length === 2);
    const configuration = { taskPushNotificationConfig: { url: `${receiver.url}/second` } };
    const done = await send(url, configuration, { taskId: task.id });
    expect(done.status.state).toBe("TASK_STATE_COMPLETED");
    await until(() => of("/first").length === 5 && of("/second").length === 3);
    const states = (path: string) => of(path).map(({ body }) => JSON.parse(body).statusUpdate?.status.state ?? "chunk");
    expect(states("/first")).toEqual([
      "TASK_STATE_WORKING",
      "TASK_STATE_INPUT_REQUIRED",
      "TASK_STATE_WORKING",
      "chunk",
      "TASK_STATE_COMPLETED",
    ]);
    expect(states("/second")).toEqual(states("/first").slice(2));
  });

  it("sent with every message of a task are one webhook and notified once; webhooks created separately are several", async () => {
    const url = await serve(
      agent({ ...asker, run: async (task) => `${await task.ask("1?")} ${await task.ask("2?")}` }),
    );
    const configuration = { taskPushNotificationConfig: { url: `${receiver.url}/same`, token: "t" } };
    const { id: taskId } = await send(url, configuration);
    await send(url, configuration, { taskId });
    const list = async () =>
      (await must<{ configs: object[] }>(url, "ListTaskPushNotificationConfigs", { taskId })).configs;
    expect(await list()).toHaveLength(1);
    await send(url, configuration, { taskId });
    await until(() => new Set(receiver.received.map(({ jti }) => jti)).size === 7);
    const bodies = new Map(receiver.received.map(({ jti, body }) => [jti, body]));
    expect(new Set(bodies.values()).size).toBe(bodies.size);
    for (let times = 0; times < 2; times++) {
      await must(url, "CreateTaskPushNotificationConfig", { taskId, url: `${receiver.url}/same` });
    }
    expect(await list()).toHaveLength(3);
  });

  it("receive signatures with their URL as audience and this server as issuer", async () => {
    const url = await serve(echo);
    const hook = `${receiver.url}/hook?a=b`;
    const task = await send(url, { taskPushNotificationConfig: { url: hook, authentication: { scheme: "Bearer" } } });
    await until(() => receiver.received.length === 3);
    const headers = receiver.received[0]?.headers;
    const signature = String(headers?.["x-a2a-notification-signature"]);
    expect(claimsOf(signature)).toMatchObject({ iss: url, aud: hook, taskId: task.id });
    expect(headers?.authorization).toBe(`Bearer ${signature}`);
  });

  it.each([
    ["ftp://hooks.example/", "url"],
    ["http://169.254.169.254/latest", "url"],
    ["http://0x7f.1/", "url"],
    [`https://hooks.example/${"x".repeat(3000)}`, "url"],
  ])("with the URL %s are refused, and the error names the field", async (hook, field) => {
    const url = await serve(asker, { outgoing: {} });
    const { id: taskId } = await send(url);
    const set = await ask(url, "CreateTaskPushNotificationConfig", { taskId, url: hook });
    expect([set.error?.code, fieldsOf(set)]).toEqual([-32602, [field]]);
    const configuration = { taskPushNotificationConfig: { url: hook } };
    const sent = await ask(url, "SendMessage", sendParams("hi", { configuration }));
    expect(sent.error?.code).toBe(-32602);
    expect(String(fieldsOf(sent))).toMatch(/^configuration\..*\.url$/);
    // No task was created.
    expect(await must<{ totalSize: number }>(url, "ListTasks", {})).toMatchObject({ totalSize: 1 });
  });
});

describe("If webhooks are not supported,", () => {
  it.each<[string, Agent, ServerOptions]>([
    ["because the agent disables them", mute, {}],
    ["because the server disables them", echo, { push: false }],
  ])("%s, every webhook request is refused before any lookup", async (_, served, options) => {
    const url = await serve(served, options);
    const card = await fetch(`${url}/.well-known/agent-card.json`);
    expect(await card.json()).toMatchObject({ capabilities: { pushNotifications: false } });
    const configuration = { taskPushNotificationConfig: { url: "nonsense" } };
    const answers = await Promise.all([
      ask(url, "CreateTaskPushNotificationConfig", { taskId: "none", url: "nonsense" }),
      ask(url, "GetTaskPushNotificationConfig", { taskId: "none", id: "x" }),
      ask(url, "ListTaskPushNotificationConfigs", { taskId: "none" }),
      ask(url, "DeleteTaskPushNotificationConfig", { taskId: "none", id: "x" }),
      ask(url, "SendMessage", sendParams("hi", { configuration })),
      ask(url, "SendStreamingMessage", sendParams("hi", { configuration })).catch(() => undefined),
    ]);
    for (const answer of answers.slice(0, 5)) expect(answer?.error?.code).toBe(-32003);
    expect(await must<{ totalSize: number }>(url, "ListTasks", {})).toMatchObject({ totalSize: 0 });
  });

  it("the card of an agent that does not notify declares pushNotifications: false", async () => {
    const url = await serve([echo, mute]);
    const flag = async (path: string): Promise<unknown> => {
      const card = (await (await fetch(`${url}${path}/.well-known/agent-card.json`)).json()) as {
        capabilities: { pushNotifications: boolean };
      };
      return card.capabilities.pushNotifications;
    };
    expect([await flag(""), await flag("/agents/mute")]).toEqual([true, false]);
  });
});
