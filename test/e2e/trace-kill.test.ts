import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openServer2026 } from "../../src/adapters/mcp/test/open-servers.ts";
import { connect } from "../../src/client.ts";
import { readSpanJournal } from "../../src/platform/tracing/span-journal.ts";
import { createOtlpTelemetry } from "../../src/telemetry.ts";
import { sampled } from "../fixtures/budget.ts";
import { OtlpReceiver, type ReceivedBatch, type ReceivedSpan, traceProblems } from "../fixtures/otlp-receiver.ts";
import { PATIENT } from "../fixtures/traced-agents.ts";
import { Receiver } from "../push/receiver.ts";
import { fixture, type Serving, until, Workbench } from "./workbench.ts";

const KILLS = sampled(1, 200);

/** A server that can be killed and started again at the same address. */
class Killable {
  readonly #bench = new Workbench();
  readonly #env: Record<string, string>;
  readonly #name: string;
  #server: Serving | undefined;
  #run = 0;
  /** What the processes logged about spans that they lost, or could not keep. */
  readonly losses: string[] = [];
  /** When each process was killed, by its number: by `performance.now()`. */
  readonly kills = new Map<number, number>();

  constructor(name: string, env: Record<string, string>) {
    this.#name = name;
    this.#env = { OUTGOING_HTTP: "1", OUTGOING_ALLOW: "loopback", LOG_LEVEL: "warn", ...env };
  }

  /** The file of the spans that were not sent. */
  get spanFile(): string {
    return this.#bench.path("tasks.db.spans");
  }

  get url(): string {
    return this.#server?.url ?? "";
  }

  async start(env: Record<string, string> = {}): Promise<void> {
    Object.assign(this.#env, env);
    const port = this.url === "" ? "0" : new URL(this.url).port;
    this.#server = await this.#bench.serve(
      [fixture("traced-agents.ts"), "--store", "sqlite:tasks.db", "--idempotent-send", "--port", port],
      { env: { ...this.#env, OTEL_RESOURCE_ATTRIBUTES: `test.server=${this.#name},test.process=${this.#run + 1}` } },
    );
    this.#run += 1;
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    if (signal === "SIGKILL") this.kills.set(this.#run, performance.now());
    const ended = await this.#server?.kill(signal);
    this.losses.push(...(ended?.stderr.split("\n") ?? []).filter(isLoss));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#bench.close();
  }
}

/** Whether a line of the log says that spans were dropped, or are not kept for the next process. */
function isLoss(line: string): boolean {
  return /Spans are not kept/.test(line) || (/Traces cannot be exported/.test(line) && /"dropped":[1-9]/.test(line));
}

interface SentBatch extends ReceivedBatch {
  readonly process: number;
}

/** Milliseconds before a kill in which a process may have got an answer without having noted it. */
const UNDER_WAY = 2000;

/**
 * Spans that arrived twice, and what is wrong with them. A batch may be repeated, as a whole, by the next process that sends anything after the one that was killed while
 * the batch was under way: its last. A notification may be sent again, and has other times then. Nothing else may arrive twice.
 */
function repetitions(received: readonly ReceivedBatch[], servers: Readonly<Record<string, Killable>>) {
  const problems: string[] = [];
  const [times, ends] = [new Set<string>(), new Map<string, bigint>()];
  /** The last batch of each server so far, and of the processes before its present one. */
  const last = new Map<string, SentBatch>();
  const lastBefore = new Map<string, SentBatch>();
  const [repeatedBy, notifications] = [new Set<string>(), new Set<string>()];
  for (const batch of received) {
    const server = String(batch.resource["test.server"]);
    const process = Number(batch.resource["test.process"]);
    const latest = last.get(server);
    if (latest !== undefined && latest.process !== process) lastBefore.set(server, latest);
    const repeated = batch.spans.filter((span) => times.has(timesOf(span)));
    if (repeated.length > 0) {
      const by = `${server} ${process}`;
      const before = lastBefore.get(server);
      const killedAt = servers[server]?.kills.get(before?.process ?? 0);
      const names = (spans: readonly ReceivedSpan[] = []): string => spans.map(timesOf).sort().join();
      if (repeatedBy.has(by)) problems.push(`${by} repeats a second batch`);
      if (names(repeated) !== names(before?.spans))
        problems.push(
          `${by} repeats ${repeated.length} spans, which are not the last batch of the process before: ${difference(repeated, before?.spans ?? [])}`,
        );
      if (killedAt === undefined) problems.push(`${by} repeats spans, but the process before was not killed`);
      else if (before !== undefined && before.answeredAt < killedAt - UNDER_WAY)
        problems.push(`${by} repeats a batch that was not under way at the kill`);
      repeatedBy.add(by);
    }
    for (const span of batch.spans) {
      const isNew = (ends.get(span.spanId) ?? span.end) === span.end;
      if (!isNew && span.name === "palaver.webhook.deliver") notifications.add(span.spanId);
      else if (!isNew) problems.push(`${span.name} ${span.spanId} arrives with two ends`);
      ends.set(span.spanId, span.end);
      times.add(timesOf(span));
    }
    last.set(server, { ...batch, process });
  }
  return { problems, batches: repeatedBy.size, notifications: notifications.size };
}

/** The spans that are only in one of the lists. */
function difference(one: readonly ReceivedSpan[], other: readonly ReceivedSpan[]): string {
  const only = (spans: readonly ReceivedSpan[], without: readonly ReceivedSpan[]): string => {
    const known = new Set(without.map(timesOf));
    return spans
      .filter((span) => !known.has(timesOf(span)))
      .map((span) => `${span.name} ${timesOf(span)}`)
      .join(", ");
  };
  return `more: ${only(one, other) || "none"}; fewer: ${only(other, one) || "none"}`;
}

function timesOf({ spanId, start, end }: ReceivedSpan): string {
  return `${spanId} ${start} ${end}`;
}

test(`a trace through three agents, three bindings, a call, a tool and a webhook is whole after ${KILLS} kills`, {
  timeout: 60_000 + KILLS * 20_000,
}, async () => {
  await using collector = await OtlpReceiver.open();
  await using mcp = await openServer2026();
  const webhook = await Receiver.open();
  const otel = { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, TOOLS_AT: mcp.url };
  await using first = new Killable("first", otel);
  await using second = new Killable("second", otel);
  await second.start();
  await first.start({ FRONT_TO: `${second.url}/agents/middle` });
  await second.end("SIGTERM");
  await second.start({ MIDDLE_TO: `${first.url}/agents/worker` });
  const telemetry = createOtlpTelemetry({ url: `${collector.url}/v1/traces`, resource: { "service.name": "client" } });
  const roots: { readonly traceId: string; readonly spanId: string; readonly flags: number }[] = [];
  try {
    for (let kill = 0; kill < KILLS; kill++) {
      const root = {
        traceId: crypto.randomUUID().replaceAll("-", ""),
        spanId: `${kill + 1}`.padStart(16, "c"),
        flags: 1,
      };
      roots.push(root);
      const remote = await connect(`${first.url}/agents/front`, {
        binding: "JSONRPC",
        version: "1.0",
        telemetry,
        retry: PATIENT,
      });
      const sent = remote.send(`${kill}`, { trace: root, push: { url: `${webhook.url}/${kill}` } });
      sent.catch(() => {});
      await sleep(Math.random() * 400);
      const victim = kill % 2 === 0 ? first : second;
      await victim.end("SIGKILL");
      await victim.start();
      expect(await sent).toMatchObject({ kind: "task", task: { status: { state: "completed" } } });
      await until(() => webhook.received.some(({ path, body }) => path === `/${kill}` && body.includes("COMPLETED")));
    }
    /** The span that the last notification of a task names. */
    const notifiedBy = (kill: number): string | undefined => {
      const last = webhook.received.findLast(({ path }) => path === `/${kill}`);
      return String(last?.headers["traceparent"]).split("-")[2];
    };
    // A notification that was under way at the last kills is sent again, once the next process has taken it over. Only then it has a span that ends.
    const unended = (): readonly number[] => {
      const ids = new Set(collector.spans.map(({ spanId }) => spanId));
      return [...roots.keys()].filter((kill) => !ids.has(notifiedBy(kill) ?? ""));
    };
    await expect.poll(unended, { timeout: 60_000, interval: 200 }).toEqual([]);
    // What the collector has is not kept for the next process.
    for (const { spanFile } of [first, second])
      await expect.poll(() => readSpanJournal(spanFile), { timeout: 20_000, interval: 50 }).toBe("");
    // Both send what they have not sent yet.
    await Promise.all([first.end("SIGTERM"), second.end("SIGTERM"), telemetry.close()]);
    // Otherwise the trace of a task may lack a whole server, of which a single span without a parent is all that shows.
    expect([...first.losses, ...second.losses]).toEqual([]);
    for (const [kill, { traceId, spanId }] of roots.entries()) {
      const spans = collector.spans.filter((span) => span.traceId === traceId);
      expect(traceProblems(spans, spanId), `kill ${kill}`).toEqual([]);
      const names = spans.map(({ name }) => name);
      expect(names, `kill ${kill}`).toEqual(
        expect.arrayContaining([
          "invoke_agent front",
          "invoke_agent middle",
          "invoke_agent worker",
          "palaver.step write",
          "invoke_agent tools",
        ]),
      );
      // The tool got the span that calls it.
      const called = mcp.records.traces.map((header) => String(header).split("-")).filter(([, id]) => id === traceId);
      expect(called, `kill ${kill}`).not.toHaveLength(0);
      for (const [, , caller] of called)
        expect(spans.find((span) => span.spanId === caller)?.name, `kill ${kill}`).toMatch(
          /^execute_tool|^palaver\.step/,
        );
      const bindings = new Set(spans.map(({ attributes }) => attributes["a2a.protocol.binding"]));
      for (const binding of ["JSONRPC", "GRPC", "HTTP+JSON"]) expect(bindings, `kill ${kill}`).toContain(binding);
      // The last notification names its own span.
      const notified = notifiedBy(kill);
      expect(spans.find((span) => span.spanId === notified)?.name, `kill ${kill}`).toBe("palaver.webhook.deliver");
    }
    const { problems, batches, notifications } = repetitions(collector.batches, { first, second });
    expect(problems).toEqual([]);
    console.info(
      `${KILLS} kills, ${collector.spans.length} spans in ${collector.batches.length} requests; arrived twice: ${batches} batches that were under way at a kill, ${notifications} notifications that were sent again`,
    );
  } finally {
    await webhook.close();
  }
});
