import { describe, expect, test } from "vitest";
import type { Artifact } from "../../protocol/artifact.ts";
import { textOf } from "../../protocol/part.ts";
import { readEvent } from "../../protocol/serial.ts";
import {
  type EngineHarness,
  eventText,
  type NumberedEvent,
  openHarness,
  scripted,
  turns,
} from "../../testing/engine-harness.ts";
import type { Batch, Subscription } from "../api.ts";

/** An agent that writes a chunk, or ends, when the test says so. */
function dictated(): { readonly agent: ReturnType<typeof scripted>; write(text: string): Promise<void>; end(): void } {
  let write: ((text: string) => Promise<void>) | undefined;
  let end: (() => void) | undefined;
  return {
    agent: scripted(async (task) => {
      write = async (text) => {
        await task.artifact("a").write(text);
        await task.flush();
      };
      await new Promise<void>((resolve) => (end = resolve));
    }),
    write: async (text) => write?.(text),
    end: () => end?.(),
  };
}

async function drain(subscription: Subscription): Promise<NumberedEvent[]> {
  const events: NumberedEvent[] = [];
  for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next()) {
    for (const { seq, body } of batch.entries) events.push({ seq, event: readEvent(body) });
  }
  subscription.close();
  return events;
}

function seqsOf(batch: Batch | undefined): number[] {
  return batch?.entries.map(({ seq }) => seq) ?? [];
}

/** A finished task of nine events: working, a question, working, four chunks, a closing chunk, completed. */
async function finished(harness: EngineHarness): Promise<Awaited<ReturnType<EngineHarness["get"]>>> {
  const { id } = await harness.send("go");
  return harness.send({ taskId: id, parts: [{ text: "yes" }] });
}

const asking = scripted(async (task) => {
  await task.ask("Well?");
  for (const text of ["1", "2", "3", "4"]) {
    await task.artifact("a").write(text);
    await task.flush();
  }
});

describe("subscriptions", () => {
  test("two subscribers and a late third see identical sequences", async () => {
    const script = dictated();
    await using harness = await openHarness({ agents: script.agent });
    const ticket = await harness.start("go");
    const first = await ticket.subscribe({});
    const second = await harness.subscribe(ticket.taskId, { after: 0 });
    const reading = [drain(first), drain(second)];
    for (const text of ["1", "2", "3"]) await script.write(text);
    const third = await harness.subscribe(ticket.taskId, { after: 0 });
    reading.push(drain(third));
    await script.write("4");
    script.end();
    const [one, two, three] = await Promise.all(reading);
    expect(one).toEqual(await harness.log(ticket.taskId));
    expect(two).toEqual(one);
    expect(three).toEqual(one);
    expect(harness.engine.counts().subscribers).toBe(0);
  });

  test("a subscription that is closed does not affect the task or the others", async () => {
    const script = dictated();
    await using harness = await openHarness({ agents: script.agent });
    const ticket = await harness.start("go");
    const gone = await harness.subscribe(ticket.taskId, { after: 0 });
    const stays = drain(await harness.subscribe(ticket.taskId, { after: 0 }));
    await gone.next();
    const pending = gone.next();
    gone.close();
    gone.close();
    expect(await pending).toBeUndefined();
    expect(await gone.next()).toBeUndefined();
    await script.write("1");
    script.end();
    expect((await stays).map(({ event }) => eventText(event))).toEqual(["working", "a=1", "a+=!", "completed"]);
    expect(harness.engine.counts().subscribers).toBe(0);
  });

  test("a waiting send whose caller disconnects leaves the task running", async () => {
    const script = dictated();
    await using harness = await openHarness({ agents: script.agent });
    const ticket = await harness.start("go");
    const caller = new AbortController();
    const settled = harness.settled(ticket, caller.signal);
    await turns(2);
    caller.abort(new Error("gone"));
    await expect(settled).rejects.toThrow("gone");
    script.end();
    await harness.untilState(ticket.taskId, "completed");
  });

  test("a slow reader sees every event exactly once, from the store if the tail does not have it", async () => {
    const script = dictated();
    await using harness = await openHarness({ agents: script.agent, limits: { tailEvents: 3 } });
    const ticket = await harness.start("go");
    const slow = await harness.subscribe(ticket.taskId, { after: 0 });
    for (let n = 0; n < 40; n += 1) await script.write(`${n}`);
    const readsBefore = harness.store.logReads;
    const seen = seqsOf(await slow.next());
    expect(harness.store.logReads).toBeGreaterThan(readsBefore);
    for (let n = 40; n < 50; n += 1) await script.write(`${n}`);
    script.end();
    seen.push(...(await drain(slow)).map(({ seq }) => seq));
    expect(seen).toEqual(Array.from({ length: 53 }, (_, n) => n + 1));
  });

  test("the tail is limited by bytes, too", async () => {
    const script = dictated();
    await using harness = await openHarness({ agents: script.agent, limits: { tailBytes: 1000 } });
    const ticket = await harness.start("go");
    const slow = await harness.subscribe(ticket.taskId, { after: 0 });
    for (let n = 0; n < 10; n += 1) await script.write("x".repeat(400));
    script.end();
    const readsBefore = harness.store.logReads;
    expect((await drain(slow)).map(({ seq }) => seq)).toEqual(Array.from({ length: 13 }, (_, n) => n + 1));
    expect(harness.store.logReads).toBeGreaterThan(readsBefore);
  });

  test("a reader that is far behind gets many batches, and a status that waits or ends is the last of its batch", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        for (let n = 0; n < 10; n += 1) await task.artifact("a").write("x".repeat(20_000));
        await task.ask("Well?");
        await task.status("going on");
      }),
    });
    const { id } = await harness.send("go");
    await harness.send({ taskId: id, parts: [{ text: "yes" }] });
    const subscription = await harness.subscribe(id, { after: 0 });
    const batches: Batch[] = [];
    for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next())
      batches.push(batch);
    expect(batches.length).toBeGreaterThan(3);
    for (const { entries } of batches) {
      expect(entries.reduce((bytes, { body }) => bytes + body.length, 0)).toBeLessThan(70_000);
      for (const { state } of entries.slice(0, -1)) expect(["working", undefined]).toContain(state);
    }
    expect(batches.flatMap(seqsOf)).toEqual((await harness.log(id)).map(({ seq }) => seq));
    subscription.close();
  });

  test("a batch says whether the message of the stream has been consumed", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await task.ask("First?");
        await task.ask("Second?");
      }),
    });
    const { id } = await harness.send("go");
    const ticket = await harness.start({ taskId: id, parts: [{ text: "an answer" }] });
    const subscription = await ticket.subscribe({});
    const states: unknown[] = [];
    for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next()) {
      states.push([batch.entries.at(-1)?.state, batch.answered]);
      if (batch.entries.at(-1)?.state === "input-required" && batch.answered) break;
    }
    expect(states.at(-1)).toEqual(["input-required", true]);
    expect((await harness.get(id)).status.message?.parts[0]?.text).toBe("Second?");
    subscription.close();
  });

  test("a stream of an answer has all events that the answer causes, also if another node ends the task first", async () => {
    const agent = scripted(async function* (task) {
      yield `${await task.ask("First?")}, `;
      yield await task.ask("Second?");
    });
    await using first = await openHarness({ agents: agent });
    const second = await first.join();
    const { id } = await first.send("go");
    await first.send({ taskId: id, parts: [{ text: "a" }] });
    const ticket = await second.begin({ taskId: id, parts: [{ text: "b" }] });
    await first.pumped(first.untilState(id, "completed"));
    const subscription = await ticket.subscribe({});
    const { state, artifacts } = subscription.opening;
    expect([subscription.ended, subscription.answered, state]).toEqual([false, false, "input-required"]);
    expect(artifacts).toContain('"a, "');
    expect((await drain(subscription)).map(({ event }) => eventText(event))).toEqual([
      "working",
      "result+=b!",
      "completed",
    ]);
  });

  test("a stream that opens after the next question has the events since its message, and says at the question that the message was consumed or waits for a later turn", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await task.ask("First?");
        await task.ask("Second?");
      }),
    });
    const { id } = await harness.send("go");
    const tickets = await Promise.all(["1", "1 again"].map((text) => harness.start({ taskId: id, parts: [{ text }] })));
    await harness.until(async () => (await harness.get(id)).status.message?.parts[0]?.text === "Second?");
    for (const ticket of tickets) {
      const subscription = await ticket.subscribe({});
      expect([subscription.opening.state, subscription.answered]).toEqual(["input-required", false]);
      const batch = await subscription.next();
      expect([batch?.entries.map(({ state }) => state), batch?.answered]).toEqual([
        ["working", "input-required"],
        true,
      ]);
      subscription.close();
    }
    const answering = await harness.begin({ taskId: id, parts: [{ text: "2" }] });
    const subscription = await answering.subscribe({});
    expect(subscription.answered).toBe(false);
    subscription.close();
  });
});

describe("a cursor", () => {
  test("absent: the current task, then the events that follow", async () => {
    const script = dictated();
    await using harness = await openHarness({ agents: script.agent });
    const { taskId } = await harness.start("go");
    await script.write("1");
    const subscription = await harness.subscribe(taskId);
    expect(subscription.opening).toMatchObject({ seq: 2, state: "working" });
    expect(JSON.parse(subscription.opening.artifacts ?? "")).toMatchObject([{ parts: [{ text: "1" }] }]);
    expect(JSON.parse(subscription.opening.history ?? "")).toHaveLength(1);
    await script.write("2");
    script.end();
    expect((await drain(subscription)).map(({ seq }) => seq)).toEqual([3, 4, 5]);
    expect(() => subscription.opening).toThrow("before its first next()");
  });

  test("at any seq: the status as of then, without artifacts and history, then exactly the rest", async () => {
    await using harness = await openHarness({ agents: asking });
    const { id } = await finished(harness);
    const log = await harness.log(id);
    expect(log).toHaveLength(9);
    const states = ["submitted", "working", "input-required", ...Array.from({ length: 6 }, () => "working")];
    for (const [after, state] of states.entries()) {
      const subscription = await harness.subscribe(id, { after });
      expect(subscription.opening).toMatchObject({ seq: after, state });
      expect(subscription.opening).not.toHaveProperty("artifacts");
      expect(subscription.opening).not.toHaveProperty("history");
      expect([subscription.resync, subscription.ended]).toEqual([false, false]);
      expect(await drain(subscription)).toEqual(log.slice(after));
    }
  });

  test("at the end of a finished task: no events", async () => {
    await using harness = await openHarness({ agents: asking });
    const { id } = await finished(harness);
    const subscription = await harness.subscribe(id, { after: 9 });
    expect(subscription.ended).toBe(true);
    expect(subscription.opening.state).toBe("completed");
    expect(await subscription.next()).toBeUndefined();
    subscription.close();
  });

  test("beyond the log is an invalid parameter, and does not count as a subscription", async () => {
    await using harness = await openHarness({ agents: asking });
    const { id } = await finished(harness);
    await expect(harness.subscribe(id, { after: 10 })).rejects.toMatchObject({
      code: "invalid-params",
      violations: [{ field: "Last-Event-ID" }],
    });
    expect(harness.engine.counts().subscribers).toBe(0);
  });

  test("before the stored events gets the whole task, marked as resync", async () => {
    await using harness = await openHarness({ agents: asking, retention: { logAge: 1000 } });
    const { id } = await finished(harness);
    await harness.advance(120_000, 10_000);
    await harness.shared.sweep();
    const subscription = await harness.subscribe(id, { after: 3 });
    expect(subscription.resync).toBe(true);
    expect(subscription.opening).toMatchObject({ seq: 9, state: "completed" });
    expect(JSON.parse(subscription.opening.artifacts ?? "")[0].parts).toHaveLength(1);
    expect(await subscription.next()).toBeUndefined();
    subscription.close();
  });

  test("whose events were dropped, because the reader is too slow, ends the subscription", async () => {
    await using harness = await openHarness({ agents: asking, retention: { logAge: 1000 }, limits: { tailEvents: 1 } });
    const { id } = await finished(harness);
    const subscription = await harness.subscribe(id, { after: 0 });
    await harness.advance(120_000, 10_000);
    await harness.shared.sweep();
    expect(await subscription.next()).toBeUndefined();
    subscription.close();
  });

  test("misses no event, whenever the subscription is opened during a commit", async () => {
    const script = dictated();
    await using harness = await openHarness({ agents: script.agent });
    const { taskId } = await harness.start("go");
    const reading: Promise<NumberedEvent[]>[] = [];
    for (let n = 0; n < 10; n += 1) {
      const written = script.write(`${n}`);
      const opened = harness.subscribe(taskId).then(async (subscription) => {
        const { seq } = subscription.opening;
        const artifacts: readonly Artifact[] = JSON.parse(subscription.opening.artifacts ?? "[]");
        expect(artifacts.map(({ parts }) => textOf(parts)).join("")).toBe("0123456789".slice(0, seq - 1));
        return [
          { seq, event: { kind: "status", status: { state: "working", timestamp: "" } } as const },
          ...(await drain(subscription)),
        ];
      });
      reading.push(opened);
      await written;
    }
    script.end();
    for (const events of await Promise.all(reading)) {
      const [first] = events;
      expect(events.map(({ seq }) => seq)).toEqual(
        Array.from({ length: 13 - (first?.seq ?? 0) + 1 }, (_, n) => (first?.seq ?? 0) + n),
      );
    }
  });
});

describe("limits", () => {
  test("maxSubscribers and maxSubscribersPerTask hold for concurrent requests, and closed subscriptions do not count", async () => {
    const script = scripted(
      (task) =>
        new Promise<void>((_, reject) => task.signal.addEventListener("abort", () => reject(task.signal.reason))),
    );
    await using harness = await openHarness({
      agents: script,
      limits: { maxSubscribers: 3, maxSubscribersPerTask: 2 },
    });
    const first = await harness.start("1");
    const second = await harness.start("2");
    const open = async (id: typeof first.taskId): Promise<Subscription | string> =>
      harness.subscribe(id).catch((error: unknown) => String(Reflect.get(Object(error), "code")));
    const ofFirst = await Promise.all([open(first.taskId), open(first.taskId), open(first.taskId)]);
    expect(ofFirst.map((result) => typeof result)).toEqual(["object", "object", "string"]);
    expect(ofFirst[2]).toBe("resource-exhausted");
    const ofSecond = await Promise.all([open(second.taskId), open(second.taskId)]);
    expect(ofSecond.map((result) => typeof result)).toEqual(["object", "string"]);
    for (const subscription of ofFirst) if (typeof subscription === "object") subscription.close();
    expect(harness.engine.counts().subscribers).toBe(1);
    expect(typeof (await open(second.taskId))).toBe("object");
    // Safe: an id that does not exist.
    expect(await harness.engine.subscribe(harness.scope(), "nobody" as typeof first.taskId, {})).toBeUndefined();
    expect(harness.engine.counts().subscribers).toBe(2);
  });
});
