import { describe, expect, it } from "vitest";
import type { ViewEntry } from "../../engine/api.ts";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { StoredTask } from "../../protocol/serial.ts";
import type { StreamBatch, TaskStream } from "../../server/task-stream.ts";
import { createDialects } from "../../wire/dialects.ts";
import { Answers } from "../answers/answers.ts";
import { RpcEnvelope } from "../jsonrpc/envelope.ts";
import { EventStream } from "./event-stream.ts";

const task: StoredTask = {
  id: "t" as TaskId,
  contextId: "c" as ContextId,
  seq: 0,
  state: "working",
  status: '{"state":"TASK_STATE_WORKING","timestamp":"2026-01-01T00:00:00.000Z"}',
};

function entry(seq: number, length: number): ViewEntry {
  const body = JSON.stringify({ artifact: { artifactId: "a", parts: [{ text: "x".repeat(length) }] } });
  return { seq, body, encoded: new Map() };
}

/** A stream over batches that are handed out one by one, with a count of how many were asked for. */
function open(batches: Array<StreamBatch | undefined | Promise<StreamBatch | undefined>>) {
  const state = { asked: 0, closed: 0, ended: [] as unknown[] };
  const stream: TaskStream = {
    kind: "stream",
    opening: { kind: "task", task },
    events: {
      take: (reader) => {
        state.asked += 1;
        Promise.resolve(batches[state.asked - 1]).then(
          (batch) => reader.arrived(batch),
          (error: unknown) => reader.failed(error),
        );
      },
      close: () => {
        state.closed += 1;
      },
    },
  };
  const envelope = new RpcEnvelope('"id-1"');
  const answers = new Answers({ maxBytes: 1e9, readerTimeoutMs: 1e6 });
  const source = new EventStream({
    stream,
    codec: createDialects().fallbackRpc("1.0"),
    envelope,
    openAnswer: (opening) =>
      answers.ofText(typeof opening === "string" ? opening : "", { afterWork: false, ended: () => undefined }),
    ended: (_source, error) => state.ended.push(error),
  });
  return { source, state };
}

describe("An event stream", () => {
  it("splits a large batch into pieces, and reads no further batch before they are taken", async () => {
    const entries = Array.from({ length: 40 }, (_, index) => entry(index + 1, 10_000));
    const { source, state } = open([{ entries, last: true }]);
    expect(await source.pull()).toMatch(/^id: 0\ndata: /);
    expect(state.asked).toBe(0);
    const pieces: string[] = [];
    for (let piece = await source.pull(); piece !== undefined; piece = await source.pull()) {
      pieces.push(piece);
      expect(piece.length).toBeLessThan(65_536 + 11_000);
      expect(state.asked).toBe(1);
    }
    expect(pieces.length).toBeGreaterThan(5);
    const ids = [...pieces.join("").matchAll(/^id: (\d+)$/gm)].map((match) => Number(match[1]));
    expect(ids).toEqual(entries.map(({ seq }) => seq));
    expect(state.ended).toEqual([undefined]);
  });

  it("loses no event when a heartbeat comes between", async () => {
    const gate = Promise.withResolvers<StreamBatch>();
    const { source, state } = open([gate.promise]);
    await source.pull();
    const first = source.pull();
    source.heartbeat();
    expect(await first).toBe(": \n\n");
    source.heartbeat();
    const second = source.pull();
    expect(state.asked).toBe(1);
    gate.resolve({ entries: [entry(1, 1)], last: false });
    expect(await second).toMatch(/^id: 1\ndata: \{"jsonrpc":"2.0","id":"id-1","result":\{"artifactUpdate":/);
    expect(state.asked).toBe(1);
  });

  it("keeps events that arrive while nobody pulls", async () => {
    const gate = Promise.withResolvers<StreamBatch>();
    const { source } = open([gate.promise, undefined]);
    await source.pull();
    const beat = source.pull();
    source.heartbeat();
    await beat;
    gate.resolve({ entries: [entry(1, 1)], last: false });
    await gate.promise;
    await Promise.resolve();
    expect(await source.pull()).toMatch(/^id: 1\n/);
    expect(await source.pull()).toBe("retry: 1000\n\n");
    expect(await source.pull()).toBeUndefined();
  });

  it("closes its subscription once and calls ended() once, however it ends", async () => {
    const { source, state } = open([new Promise(() => {})]);
    await source.pull();
    const waiting = source.pull();
    source.cancel();
    source.cancel();
    expect(await waiting).toBeUndefined();
    expect(await source.pull()).toBeUndefined();
    expect(state).toMatchObject({ closed: 1, ended: [undefined] });
  });

  it("sends nothing after cancel(), even if events arrive", async () => {
    const gate = Promise.withResolvers<StreamBatch>();
    const { source, state } = open([gate.promise]);
    await source.pull();
    const waiting = source.pull();
    source.cancel();
    gate.resolve({ entries: [entry(1, 1)], last: true });
    expect(await waiting).toBeUndefined();
    expect(await source.pull()).toBeUndefined();
    expect(state.ended).toHaveLength(1);
  });

  it("ends with one error event when reading fails", async () => {
    const { source, state } = open([Promise.reject(new Error("inside"))]);
    await source.pull();
    const last = await source.pull();
    expect(last).toMatch(/^event: error\ndata: \{"jsonrpc":"2.0","id":"id-1","error":\{"code":-32603/);
    expect(last).not.toContain("inside");
    expect(await source.pull()).toBeUndefined();
    expect(state.ended).toMatchObject([{ code: "internal" }]);
  });
});
