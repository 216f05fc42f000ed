import { writeFileSync } from "node:fs";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  type Answer,
  type ModelServer,
  openModelServer,
  type WireMessage,
} from "../../src/adapters/models/test/model-server.ts";
import { sampled } from "../fixtures/budget.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import { fixture, type Serving, Workbench } from "./workbench.ts";

const DAY = 24 * 60 * 60 * 1000;

let bench: Workbench;
let model: ModelServer;
let ledger: Ledger;
let script: (messages: readonly WireMessage[]) => Answer;
beforeEach(async () => {
  bench = new Workbench();
  model = await openModelServer((messages) => script(messages));
  ledger = await openLedger();
});
afterEach(async () => {
  await bench.close();
  await model[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
});

const serve = (historyTokens = 8000): Promise<Serving> =>
  bench.serveScript("server.ts", {
    nodeFlags: ["--import", fixture("set-clock.ts")],
    env: {
      CHAT_BASE_URL: model.url,
      LEDGER_URL: ledger.url,
      HISTORY_TOKENS: String(historyTokens),
      SETUP: JSON.stringify({ modules: [fixture("model-chat.ts")], bearer: true }),
    },
  });

interface Sent {
  readonly id: string;
  readonly contextId: string;
  readonly status: { readonly state: string };
  readonly artifacts?: readonly { readonly parts: readonly { readonly text?: string }[] }[];
}

interface Said {
  readonly caller: string;
  readonly contextId?: string;
  readonly taskId?: string;
}

const headersOf = (caller: string, version: string) => ({
  "content-type": "application/json",
  "a2a-version": version,
  authorization: `Bearer ${caller}`,
});

/** Sends by JSON-RPC 1.0. */
async function sendNew({ url }: Serving, text: string, { caller, ...ids }: Said): Promise<Sent> {
  const message = { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [{ text }], ...ids };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message } });
  const response = await fetch(url, { method: "POST", headers: headersOf(caller, "1.0"), body });
  const { result }: { result: { task: Sent } } = JSON.parse(await response.text());
  return result.task;
}

/** Sends by REST 0.3. */
async function sendOld({ url }: Serving, text: string, { caller, ...ids }: Said): Promise<Sent> {
  const parts = [{ kind: "text", text }];
  const message = { kind: "message", messageId: crypto.randomUUID(), role: "user", parts, ...ids };
  const response = await fetch(`${url}/v1/message:send`, {
    method: "POST",
    headers: headersOf(caller, "0.3"),
    body: JSON.stringify({ message, configuration: { blocking: true } }),
  });
  const answer: Sent & { readonly task?: Sent } = JSON.parse(await response.text());
  return answer.task ?? answer;
}

const textOf = ({ artifacts }: Sent): string => artifacts?.[0]?.parts.map(({ text }) => text ?? "").join("") ?? "";

it("a tool that is approved a day later, after a kill, by REST 0.3, runs once", async () => {
  script = (messages) =>
    messages.at(-1)?.role === "tool"
      ? { text: ["Paid."] }
      : { text: ["I pay."], calls: [{ id: "p", name: "pay", input: '{"n":1}' }] };
  const first = await serve();
  const asked = await sendNew(first, "Pay the bill", { caller: "ann" });
  expect(asked.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  await first.kill("SIGKILL");
  expect(ledger.payments.size).toBe(0);
  writeFileSync(bench.path("clock-offset"), String(DAY));
  const second = await serve();
  const done = await sendOld(second, "yes", { caller: "ann", taskId: asked.id });
  expect(done.status.state).toMatch(/completed/i);
  expect(textOf(done)).toBe("I pay.\n\nPaid.");
  await second.kill("SIGKILL");
  const third = await serve();
  const later = await sendNew(third, "Still there?", { caller: "ann" });
  expect(later.status.state).toBe("TASK_STATE_INPUT_REQUIRED");
  expect([...ledger.payments]).toEqual([["Pay the bill/1", 1]]);
  // Two calls of the first task, one of the last.
  expect(model.calls).toHaveLength(3);
}, 60_000);

/** What the model saw of the conversation, without instructions. */
const seen = (): readonly string[] =>
  (model.calls.at(-1) ?? []).map(({ role, content }) => `${role}: ${String(content)}`);

it("ten tasks in one context, through kills and two dialects: the model sees all of it, and nobody else's", async () => {
  script = (messages) => ({ text: [`Answer ${messages.length}.`] });
  const contextId = crypto.randomUUID();
  const expected: string[] = [];
  let server = await serve();
  for (let index = 1; index <= 10; index++) {
    const send = index % 2 === 0 ? sendOld : sendNew;
    // Another caller in a context with the same id.
    await send(server, `Secret ${index} of Bob`, { caller: "bob", contextId });
    const task = await send(server, `Message ${index}`, { caller: "ann", contextId });
    expected.push(`user: Message ${index}`);
    expect(seen(), `task ${index}`).toEqual(expected);
    expected.push(`assistant: ${textOf(task)}`);
    expect(textOf(task)).toBe(`Answer ${expected.length - 1}.`);
    if (index % sampled(6, 4) === 0) {
      await server.kill("SIGKILL");
      server = await serve();
    }
  }
  expect(expected).toHaveLength(20);
  expect(JSON.stringify(seen())).not.toContain("Secret");
  await server.kill("SIGKILL");
  // 25 tokens are about 100 characters: the latest messages.
  const small = await serve(25);
  await sendNew(small, "And now?", { caller: "ann", contextId });
  const last = seen();
  expect(last.at(-1)).toBe("user: And now?");
  expect(last.slice(0, -1)).toEqual(expected.slice(-(last.length - 1)));
  const characters = (model.calls.at(-1) ?? [])
    .slice(0, -1)
    .reduce((sum, { content }) => sum + String(content).length, 0);
  expect(characters).toBeLessThanOrEqual(100);
  expect(characters).toBeGreaterThan(80);
}, 120_000);
