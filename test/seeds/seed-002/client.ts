import type { RunFunction } from "palaver";
import { expect, it } from "vitest";
import { at } from "../exchange.ts";
import { createIssuer } from "../issuer.ts";
import { userMessage } from "../kinds.ts";
import { fetchFrom, loggingConsole, runPrinted } from "../printed/run.ts";
import { serveScript } from "../test-server.ts";
import { seed } from "./seed.ts";

/** Runs the clients that the seed prints, unchanged. */

const REPORT: RunFunction = async (task) => {
  await task.status("Processing...");
  const artifact = task.artifact("report");
  await artifact.write("Hello ");
  await artifact.end(task.text);
};

it(seed.example("Client-Side (TypeScript)", "the printed program reads a stream and logs its events"), async () => {
  await using testServer = await serveScript(REPORT);
  const console = loggingConsole();
  const { example, streamMessage } = runPrinted<{
    example(): Promise<void>;
    streamMessage(message: object): AsyncGenerator<unknown>;
  }>("002-client-side.txt", {
    names: ["example", "streamMessage"],
    scope: { fetch: fetchFrom(testServer.url), console },
  });
  await example();
  expect(console.logged).toEqual([
    ["Status:", "working"],
    ["Status:", "working"],
    ["Artifact:", undefined],
    ["Artifact:", undefined],
    ["Status:", "completed"],
  ]);
  const events: unknown[] = [];
  for await (const event of streamMessage(userMessage("Hello!"))) events.push(event);
  expect(events.map((event) => at(event, "artifact.parts.0.text") ?? at(event, "kind"))).toEqual([
    ...["task", "status-update", "status-update", "Hello ", "Hello!", "status-update"],
  ]);
});

interface PrintedClient {
  streamMessage(params: { readonly message: object }): AsyncGenerator<unknown>;
  sendMessage(params: { readonly message: object }): Promise<unknown>;
}

interface ClientProgram {
  readonly A2AClientImpl: new (baseUrl: string, token: string) => PrintedClient;
  example(): Promise<void>;
}

function clientOf(url: string, console: object): ClientProgram {
  return runPrinted<ClientProgram>("002-client.txt", {
    names: ["A2AClientImpl", "example"],
    scope: { fetch: fetchFrom(url), console, uuidv4: () => crypto.randomUUID() },
  });
}

it(
  seed.example("Client (TypeScript) › example", "the printed program streams over REST and sends over JSON-RPC"),
  async () => {
    await using testServer = await serveScript(REPORT);
    const console = loggingConsole();
    await clientOf(testServer.url, console).example();
    expect(console.logged.slice(0, -1)).toEqual([
      ["Task started:", expect.any(String)],
      ["Status:", "working"],
      ["Status:", "working"],
      ["Artifact chunk:", undefined],
      ["Artifact chunk:", undefined],
      ["Status:", "completed"],
    ]);
    const [label, task] = console.logged.at(-1) ?? [];
    expect(label).toBe("Result:");
    expect(task).toMatchObject({ kind: "task", status: { state: "completed" } });
  },
);

it(
  seed.example(
    "Client (TypeScript) › streamMessage",
    "the printed class receives the events, and stops at the final one",
  ),
  async () => {
    await using testServer = await serveScript(REPORT);
    const client = new (clientOf(testServer.url, loggingConsole()).A2AClientImpl)(testServer.url, "token-123");
    const events: unknown[] = [];
    for await (const event of client.streamMessage({ message: userMessage("Analyze sales data") })) events.push(event);
    expect(events.map((event) => at(event, "kind"))).toEqual([
      ...["task", "status-update", "status-update", "artifact-update", "artifact-update", "status-update"],
    ]);
    expect(at(events[4], "artifact.parts.0.text")).toBe("Analyze sales data");
    expect(events.at(-1)).toMatchObject({ final: true, status: { state: "completed" } });
  },
);

it(
  seed.example(
    "Client (TypeScript) › errors",
    "the printed class shows the message of a refusal, also for 401 and 403",
  ),
  async () => {
    const issuer = await createIssuer();
    const skills = [
      { id: "admin-tools", name: "Admin tools", description: "Only for some.", tags: ["x"], run: REPORT },
    ];
    const policies = [{ skill: "admin-tools", scopes: ["admin"] }];
    const security = { schemes: { bearer: issuer.verifier }, policies };
    await using testServer = await serveScript(REPORT, { skills }, { security });
    const token = (await issuer.bearer("alice", "user")).authorization.replace("Bearer ", "");
    const { A2AClientImpl } = clientOf(testServer.url, loggingConsole());
    const first = (message: object, by = token) =>
      new A2AClientImpl(testServer.url, by).streamMessage({ message }).next();
    await expect(first(userMessage("", { parts: [] }))).rejects.toThrow(
      "HTTP 400: message.parts: must have at least one part",
    );
    await expect(first(userMessage("Hi", { taskId: "task-999" }))).rejects.toThrow("HTTP 404: Task not found");
    await expect(first(userMessage("Hi"), "token-123")).rejects.toThrow(/^HTTP 401: (?!Unknown error)/);
    const admin = userMessage("Hi", { metadata: { skillId: "admin-tools" } });
    await expect(first(admin)).rejects.toThrow("HTTP 403: Forbidden: Insufficient permissions for skill 'admin-tools'");
  },
);

it(seed.example("Client (TypeScript) › sendMessage", "the printed class receives the finished task"), async () => {
  await using testServer = await serveScript(REPORT);
  const client = new (clientOf(testServer.url, loggingConsole()).A2AClientImpl)(testServer.url, "token-123");
  const task = await client.sendMessage({ message: userMessage("Quick question") });
  expect(task).toMatchObject({ kind: "task", status: { state: "completed" } });
  expect(at(task, "artifacts.0.parts.0.text")).toBe("Hello Quick question");
  await expect(client.sendMessage({ message: userMessage("", { parts: [] }) })).rejects.toThrow(
    "must have at least one part",
  );
});
