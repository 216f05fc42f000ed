import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Agent, createServer } from "../../src/index.ts";
import { ROOT } from "../architecture/imports.ts";

// The examples have their own compiler settings, so they are loaded by path.
const { default: agents }: { default: readonly Agent[] } = await import(join(ROOT, "examples", "kit-agent.ts"));
const server = createServer(agents, { store: "memory:" });
afterAll(() => server.close());

interface Answer {
  readonly result?: { readonly task?: { readonly id: string } };
}

async function call(method: string, params: object, path = "/"): Promise<Answer> {
  const response = await server.fetch(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "A2A-Version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    }),
  );
  const answer: Answer = JSON.parse(await response.text());
  return answer;
}

function message(messageId: string, more: object = {}): object {
  return { message: { messageId, role: "ROLE_USER", parts: [{ text: "Hello" }], ...more } };
}

function task(state: string, more: object = {}): object {
  return { result: { task: { status: { state: `TASK_STATE_${state}` }, ...more } } };
}

function holding(part: object): object {
  return task("COMPLETED", { artifacts: [{ parts: [part] }] });
}

const file = { filename: "output.txt", mediaType: "text/plain" };

describe("The agent for the compatibility kits", () => {
  it.each([
    ["tck-complete-task-1", task("COMPLETED")],
    ["tck-reject-task-1", task("REJECTED")],
    ["tck-input-required-1", task("INPUT_REQUIRED")],
    ["tck-artifact-text-1", holding({ text: "Generated text content" })],
    ["tck-artifact-file-1", holding({ raw: expect.any(String), ...file })],
    ["tck-artifact-file-url-1", holding({ url: expect.any(String), ...file })],
    ["tck-artifact-data-1", holding({ data: { key: "value", count: 42 } })],
    ["tck-stream-001-1", holding({ text: expect.any(String) })],
    ["tck-stream-artifact-chunked-1", task("COMPLETED", { artifacts: [{ parts: [{ text: expect.any(String) }] }] })],
    ["tck-message-response-1", { result: { message: { parts: [{ text: "Direct message response" }] } } }],
    ["test-message-id-1", task("INPUT_REQUIRED")],
  ])("answers %s as the kit expects", async (messageId, expected) => {
    expect(await call("SendMessage", message(messageId))).toMatchObject(expected);
  });

  it("continues an open task with the task id of the next message", async () => {
    const opened = await call("SendMessage", message("tck-input-required-1"));
    expect(opened).toMatchObject(task("INPUT_REQUIRED"));
    const taskId = opened.result?.task?.id;
    expect(await call("SendMessage", message("tck-input-required-2", { taskId }))).toMatchObject(
      task("INPUT_REQUIRED"),
    );
    expect(await call("SendMessage", message("tck-complete-task-1", { taskId }))).toMatchObject(task("COMPLETED"));
  });

  it("has a second agent without streaming and webhooks, and a third that requires an extension", async () => {
    const refused = (reason: string): object => ({ error: { data: [{ reason }] } });
    const stream = await call("SendStreamingMessage", message("tck-1"), "/agents/kit-plain/");
    expect(stream).toMatchObject(refused("UNSUPPORTED_OPERATION"));
    const push = await call("ListTaskPushNotificationConfigs", { taskId: "any" }, "/agents/kit-plain/");
    expect(push).toMatchObject(refused("PUSH_NOTIFICATION_NOT_SUPPORTED"));
    const send = await call("SendMessage", message("tck-1"), "/agents/kit-extended/");
    expect(send).toMatchObject(refused("EXTENSION_SUPPORT_REQUIRED"));
  });
});
