import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { connect } from "../../src/client.ts";
import { type Agent, agent, remoteAgent } from "../../src/index.ts";
import { openSpanFile } from "../../src/platform/tracing/span-file.ts";
import { readSpanJournal } from "../../src/platform/tracing/span-journal.ts";
import { createServer, type ServerOptions } from "../../src/server.ts";
import { createOtlpTelemetry } from "../../src/telemetry.ts";
import { OtlpReceiver, type ReceivedSpan, traceProblems } from "../fixtures/otlp-receiver.ts";
import { Receiver } from "../push/receiver.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };
const ROOT = {
  traceId: "4bf92f3577b34da6a3ce929d0e0e4736",
  spanId: "00f067aa0ba902b7",
  flags: 1,
  state: "vendor=value",
};

async function serving(agents: Agent | readonly Agent[], options: ServerOptions) {
  const server = createServer(agents, {
    store: "memory:",
    port: 0,
    logger: SILENT,
    outgoing: { http: true, allow: ["loopback"] },
    ...options,
  });
  const { url } = await server.listen();
  return { url, close: () => server.close(), [Symbol.asyncDispose]: () => server.close() };
}

const worker = agent({
  name: "Worker",
  description: "Works.",
  version: "1",
  async run(task) {
    await task.step("look", () => 1);
    const answer = await task.ask("Which secret-question-text?");
    return `done: ${answer}`;
  },
});

const named = (spans: readonly ReceivedSpan[], name: string): ReceivedSpan[] =>
  spans.filter((span) => span.name === name);

describe.each(["JSONRPC", "HTTP+JSON", "GRPC"])("a task that is called over %s", (binding) => {
  test("is one trace: calls, attempts, steps, questions, deliveries, with the events of its log", async () => {
    await using collector = await OtlpReceiver.open();
    const webhook = await Receiver.open();
    const telemetry = createOtlpTelemetry({
      url: `${collector.url}/v1/traces`,
      resource: { "service.name": "client" },
    });
    const server = await serving(worker, { otlp: collector.url });
    try {
      const remote = await connect(server.url, { binding, telemetry });
      const asked = await remote.send("go", { trace: ROOT, push: { id: "hook", url: webhook.url } });
      if (asked.kind !== "task") throw new Error("A task was expected.");
      await remote.task(asked.task.id).reply("yes", { trace: ROOT });
      await expect
        .poll(() => webhook.received.some(({ body }) => /completed/i.test(body)), { timeout: 10_000 })
        .toBe(true);
    } finally {
      await webhook.close();
      await server.close();
      await telemetry.close();
    }
    const spans = collector.spans;
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([ROOT.traceId]));
    expect(traceProblems(spans, ROOT.spanId)).toEqual([]);
    expect(new Set(spans.map(({ traceState }) => traceState))).toEqual(new Set(["vendor=value"]));

    const [attempt] = named(spans, "invoke_agent worker");
    expect(attempt?.attributes).toMatchObject({
      "gen_ai.operation.name": "invoke_agent",
      "a2a.task.id": expect.any(String),
      "gen_ai.conversation.id": expect.any(String),
      "palaver.outcome": "completed",
    });
    const states = attempt?.events.map(({ name, attributes }) => attributes["a2a.task.state"] ?? name);
    expect(states).toEqual([
      "TASK_STATE_WORKING",
      "TASK_STATE_INPUT_REQUIRED",
      "TASK_STATE_WORKING",
      "a2a.task.artifact",
      "TASK_STATE_COMPLETED",
    ]);
    const call = spans.find(({ spanId }) => spanId === attempt?.parentSpanId);
    expect(call).toMatchObject({
      name: "SendMessage",
      kind: 2,
      attributes: { "a2a.protocol.binding": binding, "a2a.protocol.version": "1.0" },
    });
    const request = spans.find(({ spanId }) => spanId === call?.parentSpanId);
    expect(request).toMatchObject({ name: "SendMessage", kind: 3, parentSpanId: ROOT.spanId, service: "client" });
    for (const name of ["palaver.step look", "palaver.question"]) {
      expect(
        named(spans, name).map(({ parentSpanId }) => parentSpanId),
        name,
      ).toEqual([attempt?.spanId]);
    }
    const deliveries = named(spans, "palaver.webhook.deliver");
    const sent = webhook.received.map(({ headers }) => String(headers["traceparent"]).split("-")[2]);
    expect(new Set(sent)).toEqual(new Set(deliveries.map(({ spanId }) => spanId)));
    expect(webhook.received[0]?.headers["tracestate"]).toBe("vendor=value");
  });
});

test("a server without a collector makes no spans, and passes the trace of the caller on", async () => {
  const seen: unknown[] = [];
  const inner = agent({
    name: "Inner",
    description: "Shows its trace.",
    version: "1",
    async run(task) {
      seen.push(task.trace);
      return "x";
    },
  });
  await using behind = await serving(inner, {});
  await using front = await serving(await remoteAgent(behind.url, { agent: { id: "front" } }), {});
  await (await connect(front.url)).send("go", { trace: ROOT });
  await (await connect(front.url)).send("go");
  expect(seen).toEqual([{ ...ROOT, spanId: expect.stringMatching(/^(?!00f067aa0ba902b7)[0-9a-f]{16}$/) }, undefined]);
});

test("the lines of task.log carry the ids of the task, its context, its agent and its trace", async () => {
  const lines: [string, object | undefined][] = [];
  const logger = { ...SILENT, info: (message: string, details?: object) => void lines.push([message, details]) };
  const logging = agent({
    name: "Logging",
    description: "Logs.",
    version: "1",
    run: async (task) => task.log.info("hello", { own: 1 }),
  });
  await using server = await serving(logging, { logger });
  const sent = await (await connect(server.url)).send("go", { trace: ROOT });
  if (sent.kind !== "task") throw new Error("A task was expected.");
  const { id: task, contextId: context } = sent.task;
  const ids = { task, context, agent: "logging", traceId: ROOT.traceId, spanId: expect.any(String) };
  expect(lines.find(([message]) => message === "hello")?.[1]).toEqual({ own: 1, ...ids });
});

test.each([
  ["an unknown version", "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"],
  ["a trace id of zeros", "00-00000000000000000000000000000000-00f067aa0ba902b7-01"],
  ["a span id of zeros", "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01"],
  ["capital letters", "00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01"],
  ["a very long text", `00-${"a".repeat(9000)}`],
])("a traceparent with %s is ignored: the call starts a trace of its own", async (_, traceparent) => {
  await using collector = await OtlpReceiver.open();
  const server = await serving(agent({ name: "A", description: "A.", version: "1", run: async () => "x" }), {
    otlp: collector.url,
  });
  const body = {
    jsonrpc: "2.0",
    id: 1,
    method: "SendMessage",
    params: { message: { messageId: "m", role: "ROLE_USER", parts: [{ text: "x" }] } },
  };
  const response = await fetch(server.url, {
    method: "POST",
    headers: { "content-type": "application/json", "a2a-version": "1.0", traceparent, tracestate: "x=1" },
    body: JSON.stringify(body),
  });
  expect(response.status).toBe(200);
  await server.close();
  const [call] = named(collector.spans, "SendMessage");
  expect(call).toMatchObject({ parentSpanId: undefined, traceState: undefined });
  expect(call?.traceId).not.toBe(ROOT.traceId);
});

describe("30 planted secrets", () => {
  test("appear in no span", async () => {
    await using collector = await OtlpReceiver.open();
    const webhook = await Receiver.open((_, response) => void response.writeHead(410).end());
    const secrets = Array.from({ length: 30 }, (_, index) => `planted-${index}-${crypto.randomUUID()}`);
    const [
      header,
      token,
      bearer,
      password,
      user,
      query,
      hookToken,
      hookQuery,
      credentials,
      reply,
      metadata,
      data,
      stepResult,
      stepError,
      failure,
      question,
      artifact,
      status,
      file,
      log,
      taskMetadata,
      contextValue,
      tenantless,
      extra,
      own,
      name,
      apiKey,
      cookie,
      hookHeader,
      asked,
    ] = secrets as [string, ...string[]];
    const leaky = agent({
      name: "Leaky",
      description: "Handles secrets.",
      version: "1",
      async run(task) {
        await task.step("keep", () => ({ stepResult }));
        await task.step("fail", () => Promise.reject(new Error(stepError))).catch(() => {});
        await task.status(`${status}`);
        await task.setMetadata({ note: `${taskMetadata}` });
        task.log.info(`${log}`, { contextValue });
        await task.artifact("notes").end(`${artifact} ${extra}`);
        const answer = await task.ask(`${question}`, { sensitive: true });
        throw new Error(`${failure} ${own} ${answer} ${tenantless}`);
      },
    });
    const telemetry = createOtlpTelemetry({
      url: `${collector.url}/v1/traces`,
      resource: { "service.name": "client" },
      headers: { authorization: `${apiKey}` },
    });
    const server = await serving(leaky, { otlp: collector.url.replace("//", `//${user}:${password}@`) });
    try {
      const remote = await connect(`${server.url}/?key=${query}`, {
        binding: "JSONRPC",
        telemetry,
        headers: { "x-secret": `${header}`, authorization: `Bearer ${bearer}`, cookie: `c=${cookie}` },
      });
      const sent = await remote.send(
        {
          parts: [
            { text: `${token}` },
            { data: { data: `${data}` } },
            { file: { name: `${name}`, bytes: Buffer.from(`${file}`) } },
          ],
          metadata: { m: `${metadata}` },
        },
        {
          metadata: { m: `${metadata}` },
          push: {
            id: "hook",
            url: `${webhook.url}/?q=${hookQuery}`,
            token: `${hookToken}`,
            authentication: { schemes: ["Basic"], credentials: `${credentials}` },
            headers: { "x-hook": `${hookHeader}` },
          },
        },
      );
      if (sent.kind !== "task") throw new Error("A task was expected.");
      const ended = await remote.task(sent.task.id).reply(`${reply} ${asked}`);
      expect(ended).toMatchObject({ task: { status: { state: "failed" } } });
      await expect.poll(() => webhook.received.length).toBeGreaterThan(0);
      await remote
        .task("missing")
        .get()
        .catch(() => {});
    } finally {
      await webhook.close();
      await server.close();
      await telemetry.close();
    }
    const names = new Set(collector.spans.map((span) => span.name));
    for (const expected of [
      "SendMessage",
      "invoke_agent leaky",
      "palaver.step keep",
      "palaver.step fail",
      "palaver.question",
      "palaver.webhook.deliver",
      "GetTask",
    ]) {
      expect(names).toContain(expected);
    }
    expect(new Set(secrets).size).toBe(30);
    expect(secrets.filter((secret) => collector.bodies.some((body) => body.includes(secret)))).toEqual([]);
  });
});

describe("the exporter", () => {
  test("sends spans again while the collector is unavailable, and only once after that", async () => {
    await using collector = await OtlpReceiver.open();
    collector.answers.push(503, 429);
    const telemetry = createOtlpTelemetry({ url: `${collector.url}/v1/traces`, resource: {}, delay: 1 });
    telemetry.call?.({ agent: "a", dialect: "1.0/jsonrpc", trace: undefined })?.end({
      agent: "a",
      operation: "get",
      dialect: "1.0/jsonrpc",
      principal: { id: "", anonymous: true },
      taskId: "t",
      error: undefined,
      durationMs: 1,
    });
    await expect.poll(() => collector.spans.length, { timeout: 10_000 }).toBe(1);
    await telemetry.close();
    expect(collector.spans.map(({ name }) => name)).toEqual(["GetTask"]);
    expect(telemetry.dropped()).toBe(0);
  });

  test("drops and counts spans that do not fit into its queue, and those that the collector refuses", async () => {
    await using collector = await OtlpReceiver.open();
    collector.answers.push(400);
    const telemetry = createOtlpTelemetry({ url: `${collector.url}/v1/traces`, resource: {}, maxQueue: 3 });
    for (let n = 0; n < 5; n++)
      telemetry
        .request?.({ url: "http://h/", operation: "get", trace: undefined })
        ?.end({ httpStatus: 200, error: undefined });
    expect(telemetry.dropped()).toBe(2);
    await telemetry.close();
    expect(telemetry.dropped()).toBe(5);
  });

  test("ends within its time if the collector does not answer", async () => {
    const never = await Receiver.open(() => "hang");
    const telemetry = createOtlpTelemetry({ url: `${never.url}/v1/traces`, resource: {} });
    telemetry
      .request?.({ url: "http://h/", operation: "get", trace: undefined })
      ?.end({ httpStatus: 200, error: undefined });
    await telemetry.close(50);
    expect(telemetry.dropped()).toBe(1);
    await never.close();
  });
});

test("spans that a killed process had not sent are read from its file: ended ones as they are, others as crashed", () => {
  const folder = mkdtempSync(join(tmpdir(), "palaver-spans-"));
  try {
    const file = join(folder, "tasks.db.spans");
    const span = (id: string, end: string): string =>
      `{"traceId":"${"a".repeat(32)}","spanId":"${id.repeat(16)}","name":"n","startTimeUnixNano":"5000",${end}"attributes":[]}`;
    const deliver = span("4", "").replace('"n"', '"palaver.webhook.deliver"');
    const lines = [
      span("1", ""),
      span("2", ""),
      deliver,
      span("2", '"endTimeUnixNano":"9000",'),
      span("3", "").slice(0, 60),
    ];
    writeFileSync(file, lines.join("\n"));
    const spool = openSpanFile(file, SILENT);
    const recovered = Buffer.concat(spool.queue.lines()).toString();
    expect(JSON.parse(`[${recovered.slice(0, -2)}]`)).toMatchObject([
      { spanId: "2".repeat(16), endTimeUnixNano: "9000" },
      { spanId: "1".repeat(16), endTimeUnixNano: "9000", status: { code: 2 } },
    ]);
    expect(readSpanJournal(file)).toBe(recovered);
    spool.close();
  } finally {
    rmSync(folder, { recursive: true });
  }
});
