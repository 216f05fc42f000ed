import { expect, test } from "vitest";
import { connect } from "../../src/client.ts";
import { agent } from "../../src/index.ts";
import { createServer, type Span, type Telemetry, type TraceContext } from "../../src/server.ts";
import { Receiver } from "../push/receiver.ts";

interface Noted {
  readonly kind: string;
  readonly start: unknown;
  readonly events: unknown[];
  end?: unknown;
}

const TRACE = "0af7651916cd43dd8448eb211c80319c";

/** Notes everything that it observes. Each span has an id of its own in one trace. */
function recorder(): { readonly telemetry: Required<Telemetry>; readonly noted: Noted[] } {
  const noted: Noted[] = [];
  let spans = 0;
  const begin = (kind: string, start: unknown): Span<unknown> & { event(...event: readonly unknown[]): void } => {
    const entry: Noted = { kind, start, events: [] };
    noted.push(entry);
    const trace: TraceContext = {
      traceId: TRACE,
      spanId: String(++spans).padStart(16, "0"),
      flags: 1,
      state: "test=1",
    };
    return {
      trace,
      event: (...event) => entry.events.push(event),
      end: (end) => {
        expect(entry.end).toBeUndefined();
        entry.end = end;
      },
    };
  };
  const telemetry: Required<Telemetry> = {
    call: (start) => begin("call", start),
    attempt: (start) => begin("attempt", start),
    step: (start) => begin("step", start),
    wait: (start) => begin("wait", start),
    delivery: (start) => begin("delivery", start),
    request: (start) => begin("request", start),
    commit: (report) => noted.push({ kind: "commit", start: undefined, events: [], end: report }),
  };
  return { telemetry, noted };
}

const worker = agent({
  name: "Worker",
  description: "Works.",
  version: "1",
  async run(task) {
    await task.step("look", () => 1);
    await task.step("fail", () => Promise.reject(new Error("no"))).catch(() => {});
    return "done";
  },
});

test.each([
  { binding: "JSONRPC", dialect: "1.0/jsonrpc" },
  { binding: "HTTP+JSON", dialect: "1.0/rest" },
  { binding: "GRPC", dialect: "1.0/grpc" },
])(
  "calls, attempts, steps, commits, deliveries and requests over $binding are observed, each with its end and its place in the trace",
  async ({ binding, dialect }) => {
    const { telemetry, noted } = recorder();
    const receiver = await Receiver.open();
    const server = createServer([worker], {
      store: "memory",
      port: 0,
      telemetry,
      outgoing: { http: true, allow: [`127.0.0.1:${receiver.port}`] },
      logger: { debug() {}, info() {}, warn() {}, error() {} },
    });
    await using _closing = {
      [Symbol.asyncDispose]: () => Promise.all([server.close(), receiver.close()]).then(() => {}),
    };
    const { url } = await server.listen();
    const remote = await connect(url, { binding, telemetry });
    const sent = await remote.send("go", { push: { id: "hook", url: receiver.url } });
    const taskId = sent.kind === "task" ? sent.task.id : undefined;
    await expect.poll(() => receiver.received.length, { timeout: 10_000 }).toBeGreaterThan(1);
    await expect.poll(() => noted.filter(({ kind }) => kind === "delivery").every(({ end }) => end)).toBe(true);
    const of = (kind: string): Noted[] => noted.filter((entry) => entry.kind === kind);

    expect(of("request")[0]).toMatchObject({
      start: { url: expect.stringContaining(url), operation: expect.any(String) },
      end: { httpStatus: 200 },
    });
    const [call] = of("call");
    // The client sent its span along.
    expect(call?.start).toMatchObject({ agent: "worker", trace: { traceId: TRACE, state: "test=1" } });
    expect(call?.end).toMatchObject({ operation: expect.any(String), taskId, error: undefined, dialect });
    const [attempt] = of("attempt");
    // The task belongs to the span of the call.
    expect(attempt?.start).toMatchObject({ taskId, agent: "worker", turn: 1, attempt: 1, trace: { traceId: TRACE } });
    expect(attempt?.end).toEqual({ outcome: "completed" });
    expect(attempt?.events).toContainEqual([1, "working"]);
    expect(of("step").map(({ start, end }) => [start, end])).toMatchObject([
      [{ name: "look", key: "step:look#1", parent: { traceId: TRACE } }, { error: undefined }],
      [{ name: "fail" }, { error: new Error("no") }],
    ]);
    expect(of("delivery")[0]).toMatchObject({
      start: { taskId, agent: "worker", webhook: "hook", attempt: 1, trace: { traceId: TRACE } },
      end: { outcome: "delivered", httpStatus: 200 },
    });
    expect(of("commit").at(0)?.end).toMatchObject({ operations: 1, ok: true, durationMs: expect.any(Number) });
  },
);

test("a refused call is observed with its error", async () => {
  const { telemetry, noted } = recorder();
  const server = createServer([worker], {
    store: "memory",
    telemetry,
    logger: { debug() {}, info() {}, warn() {}, error() {} },
  });
  await using _closing = { [Symbol.asyncDispose]: () => server.close() };
  await server.fetch(
    new Request("http://localhost/", {
      method: "POST",
      headers: { "content-type": "application/json", "a2a-version": "1.0" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "GetTask", params: { id: "nope" } }),
    }),
  );
  expect(noted).toMatchObject([{ kind: "call", end: { operation: "get", error: "task-not-found" } }]);
});
