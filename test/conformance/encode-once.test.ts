import type { RunFunction } from "palaver";
import { describe, expect, it } from "vitest";
import type { Batch, Engine, Subscription, Ticket, ViewEntry } from "../../src/engine/api.ts";
import { Listener } from "../../src/platform/listener.ts";
import { EngineHarness } from "../../src/testing/engine-harness.ts";
import { createHttpHandler } from "../../src/transport/http-handler.ts";
import { loadGrpcDialects } from "../../src/wire/grpc.ts";
import { accepted, type Caller, type DialectClient, text } from "./dialect-client.ts";
import { jsonRpc0_1 } from "./dialect-clients/v0-1-jsonrpc.ts";
import { jsonRpc0_3 } from "./dialect-clients/v0-3-jsonrpc.ts";
import { DIALECT_CLIENTS } from "./dialect-clients.ts";
import { createGate } from "./gate.ts";
import { agentsOf } from "./test-server.ts";

/** Counts by event number. */
type Counts = Map<number, number>;

interface Encodings {
  /** How often the stored text of each event was read. Encoding needs this read. */
  readonly looks: Counts;
  /** How often an encoded text was cached for readers of the same dialect. */
  readonly kept: Counts;
}

function count(counts: Counts, seq: number): void {
  counts.set(seq, (counts.get(seq) ?? 0) + 1);
}

/** An object with some methods replaced. */
function replacing<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(_, name) {
      const member: unknown = Reflect.get(methods, name) ?? Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

/** The engine, with every access to an event's stored text counted. */
function counting(engine: Engine, encodings: Encodings): Engine {
  const subscribe: Engine["subscribe"] = async (...query) => {
    const subscription = await engine.subscribe(...query);
    return subscription === undefined ? undefined : countingSubscription(subscription, encodings);
  };
  const submit: Engine["submit"] = async (submission) => {
    const submitted = await engine.submit(submission);
    if (submitted.kind === "message") return submitted;
    const { ticket } = submitted;
    const follow: Ticket["subscribe"] = async (options) =>
      countingSubscription(await ticket.subscribe(options), encodings);
    return { kind: "task", ticket: replacing(ticket, { subscribe: follow }) };
  };
  return replacing(engine, { subscribe, submit });
}

function countingSubscription(subscription: Subscription, encodings: Encodings): Subscription {
  const counted = (entry: ViewEntry): ViewEntry => ({
    seq: entry.seq,
    ...(entry.state !== undefined && { state: entry.state }),
    get body() {
      count(encodings.looks, entry.seq);
      return entry.body;
    },
    get encoded() {
      const { encoded } = entry;
      if (encoded === undefined) return undefined;
      return {
        get: (key: string) => encoded.get(key),
        set(key: string, made: string) {
          count(encodings.kept, entry.seq);
          encoded.set(key, made);
        },
      };
    },
  });
  const countedBatch = (batch: Batch | undefined): Batch | undefined =>
    batch === undefined ? undefined : { ...batch, entries: batch.entries.map(counted) };
  return {
    opening: subscription.opening,
    resync: subscription.resync,
    ended: subscription.ended,
    answered: subscription.answered,
    next: () => subscription.next().then(countedBatch),
    take: (reader) =>
      subscription.take({
        arrived: (batch) => reader.arrived(countedBatch(batch)),
        failed: (error) => reader.failed(error),
      }),
    close: () => subscription.close(),
  };
}

/** Runs a task of many events with that many readers in each dialect, and returns how often each event was encoded. */
async function encodingsWith(
  readersEach: number,
  dialectClients: readonly DialectClient[],
): Promise<Encodings & { readonly frames: number }> {
  const gate = createGate();
  const encodings: Encodings = { looks: new Map(), kept: new Map() };
  const play: RunFunction = async function* (task) {
    await gate.passed(task.signal);
    for (let count = 1; count <= 20; count++) yield `${count} "quoted" `;
    await task.status("Halfway");
    await task.artifact("data").end({ data: { n: 1 } });
    yield await task.ask("Go on?");
  };
  const agents = agentsOf(new Map([["play", play]]));
  await using harness = await EngineHarness.open({ agents });
  const handler = createHttpHandler({
    agents,
    engine: counting(harness.engine, encodings),
    publicUrl: "http://localhost",
  });
  handler.serveGrpc(() => loadGrpcDialects());
  const listener = new Listener(
    { http1: handler.nodeHandler, http2: handler.http2Handler },
    { head: 60_000, whole: 60_000 },
  );
  const { url } = await listener.listen("127.0.0.1", 0);
  try {
    const callerOf = (dialectClient: DialectClient): Caller =>
      dialectClient.at(url, { bodyless: "proto", showStyle: true });
    const callers = dialectClients.map(callerOf);
    // The sender's stream ends with the question, the other streams continue. In 0.3 this differs on the wire, which
    // makes one more text.
    const first = callerOf(jsonRpc0_3);
    const sent = await accepted(first.stream(text("play")));
    const [opening] = await sent.until((frame) => frame.kind === "status");
    const id = opening?.kind === "task" ? opening.task.id : "";
    const readers = await Promise.all(
      callers.flatMap((caller) => Array.from({ length: readersEach }, () => accepted(caller.subscribe(id)))),
    );
    gate.open();
    await sent.rest();
    await accepted(first.send({ ...text("yes"), taskId: id }, { wait: true }));
    const frames = (await Promise.all(readers.map((reader) => reader.rest()))).reduce(
      (sum, { length }) => sum + length,
      0,
    );
    return { ...encodings, frames };
  } finally {
    await listener.close();
  }
}

describe("an event", () => {
  it("is encoded at most once per dialect for any number of readers", async () => {
    // In 0.1 artifacts have numbers, so every reader first reads which artifact a chunk belongs to.
    const dialectClients = DIALECT_CLIENTS.filter(({ version }) => version !== "0.1");
    const [few, many] = [await encodingsWith(1, dialectClients), await encodingsWith(4, dialectClients)];
    expect(many.frames).toBe(few.frames * 4);
    expect(many.looks.size).toBeGreaterThan(25);
    for (const [seq, looks] of many.looks) expect(looks, `event ${seq}`).toBeLessThanOrEqual(dialectClients.length);
    expect(many.looks).toEqual(few.looks);
  });

  it("is cached in its encoded form for all readers of the same dialect", async () => {
    const [few, many] = [await encodingsWith(2, DIALECT_CLIENTS), await encodingsWith(4, DIALECT_CLIENTS)];
    expect(many.frames).toBe(few.frames * 2);
    for (const [seq, kept] of many.kept) expect(kept, `event ${seq}`).toBeLessThanOrEqual(DIALECT_CLIENTS.length);
    expect(many.kept).toEqual(few.kept);
    const [alone, others] = [await encodingsWith(2, [jsonRpc0_1]), await encodingsWith(2, [jsonRpc0_3])];
    expect(alone.kept.size).toBeGreaterThan(25);
    // The sender's stream caches its own texts up to the question.
    expect([alone.kept.get(5), alone.kept.get(27)]).toEqual([2, 1]);
    expect([others.kept.get(5), others.kept.get(27)]).toEqual([1, 1]);
  });
});
