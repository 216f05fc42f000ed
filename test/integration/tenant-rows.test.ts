import { DatabaseSync } from "node:sqlite";
import { agent } from "palaver";
import { expect, it, onTestFinished } from "vitest";
import { newStore } from "../adapters/relaying.ts";
import { openSite } from "../client/own-server.ts";

const echo = agent({ name: "Echo", description: "Echoes.", version: "1", run: async (task) => task.text });
const JSON_TYPE = { "content-type": "application/json", "a2a-version": "1.0" };

async function open() {
  const store = await newStore();
  const site = await openSite(echo, { store, retention: { maxTasks: 10, pruneCount: 5 } });
  onTestFinished(site.close);
  const rows = (table: string): number => {
    const database = new DatabaseSync(store.slice("sqlite:".length), { readOnly: true });
    const row = database.prepare(`SELECT count(*) AS n FROM ${table}`).get();
    database.close();
    return Number(row?.["n"]);
  };
  const message = (text: string) => ({ message: { messageId: text, role: "ROLE_USER", parts: [{ text }] } });
  const rest = async (path: string, body?: object): Promise<number> => {
    const init = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${site.url}${path}`, { ...init, headers: JSON_TYPE });
    await response.text();
    return response.status;
  };
  const rpc = async (method: string, params: object): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const response = await fetch(site.url, { method: "POST", body, headers: JSON_TYPE });
    return JSON.parse(await response.text());
  };
  return { rows, rest, rpc, message };
}

it("made-up tenants leave no rows when callers read, cancel or address tasks that do not exist", async () => {
  const { rows, rest, rpc, message } = await open();
  for (let n = 0; n < 20; n++) {
    expect(await rest(`/tenant-${n}/tasks`)).toBe(200);
    expect(await rest(`/tenant-${n}/tasks/none`)).toBe(404);
    expect(await rest(`/tenant-${n}/tasks/none:cancel`, {})).toBe(404);
    expect(await rest(`/tenant-${n}/tasks/none:subscribe`, {})).toBe(404);
    const { message: said } = message("Hello");
    expect(await rest(`/tenant-${n}/message:send`, { message: { ...said, taskId: "none" } })).toBe(404);
    await rpc("ListTasks", { tenant: `other-${n}` });
    await rpc("GetTask", { tenant: `other-${n}`, id: "none" });
    await rpc("ListTaskPushNotificationConfigs", { tenant: `other-${n}`, taskId: "none" });
  }
  expect(rows("scope")).toBe(0);
});

it("tenants leave no rows once retention has deleted their tasks", async () => {
  const { rows, rest, message } = await open();
  for (let n = 0; n < 60; n++) expect(await rest(`/tenant-${n}/message:send`, message(`Hello ${n}`))).toBe(200);
  expect(rows("task")).toBeLessThanOrEqual(10);
  expect(rows("scope")).toBe(rows("task"));
  expect(await rest("/tenant-0/message:send", message("Hello again"))).toBe(200);
  expect(rows("scope")).toBe(rows("task"));
});
