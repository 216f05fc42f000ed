import { describe, expect, test } from "vitest";
import type { TaskId } from "../../protocol/ids.ts";
import type { Store } from "../../store/contract.ts";
import { createMemoryStore } from "../../store/memory/store.ts";
import { openHarness, scripted, turns } from "../../testing/engine-harness.ts";
import { FakeClock } from "../../testing/fake-clock.ts";
import {
  contextId,
  createOf,
  headOf,
  postOf,
  SCOPE,
  START,
  statusEntry,
  taskId,
  writeOf,
} from "../../testing/store-operations.ts";
import { DEFAULT_LIMITS } from "../limits.ts";
import { Feed } from "../read/feed.ts";
import { isHandledAt } from "../read/posted-message.ts";
import { loadConsumption, settled } from "./settled.ts";

const twice = scripted(async (task) => {
  await task.ask("First?");
  await task.ask("Second?", { sensitive: task.text === "sensitive" });
  await task.ask("Third?");
});

describe("a blocking send", () => {
  test("returns with the question after its message, not with the question before it", async () => {
    await using harness = await openHarness({ agents: twice });
    const first = await harness.send("go");
    expect(first.status.message?.parts[0]?.text).toBe("First?");
    const second = await harness.send({ taskId: first.id, parts: [{ text: "1" }] });
    expect(second.status.message?.parts[0]?.text).toBe("Second?");
  });

  test("returns if the question was asked long before, the run is parked and its feed is gone", async () => {
    for (const text of ["go", "sensitive"]) {
      await using harness = await openHarness({ agents: twice, parkAfter: 1000 });
      const { id } = await harness.send(text);
      const toFirst = await harness.start({ taskId: id, parts: [{ text: "1" }] });
      await harness.untilState(id, "input-required");
      await harness.until(async () => (await harness.get(id)).status.message?.parts[0]?.text === "Second?");
      const toSecond = await harness.start({ taskId: id, parts: [{ text: "2" }] });
      await harness.until(async () => (await harness.get(id)).status.message?.parts[0]?.text === "Third?");
      await harness.advance(3000);
      expect(harness.engine.counts().live).toBe(0);
      await harness.settled(toFirst);
      await harness.settled(toSecond);
    }
  });

  test("returns when the task asks a question before reading its message, which stays in the inbox", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await new Promise<void>((resolve) => (ask = resolve));
        // The message is in the inbox: it arrived before the question and does not answer it.
        await task.ask("Question?");
      }),
    });
    let ask: (() => void) | undefined;
    const { taskId } = await harness.start("go");
    const ticket = await harness.start({ taskId, parts: [{ text: "unread" }] });
    let isSettled = false;
    const settled = harness.settled(ticket).then(() => (isSettled = true));
    await turns(20);
    expect(isSettled).toBe(false);
    ask?.();
    await settled;
    expect((await harness.get(taskId)).status.message?.parts[0]?.text).toBe("Question?");
    expect(await harness.shared.inbox(taskId)).toHaveLength(1);
  });

  test("that repeats an answer returns with the next question", async () => {
    await using harness = await openHarness({ agents: twice });
    const { id } = await harness.send("go");
    const both = ["1", "1 again"].map((text) => harness.send({ taskId: id, parts: [{ text }] }));
    const tasks = await Promise.all(both);
    expect(tasks.map(({ status }) => status.message?.parts[0]?.text)).toEqual(["Second?", "Second?"]);
  });

  test("that repeats an answer to a parked run returns with the next question", async () => {
    await using harness = await openHarness({ agents: twice, parkAfter: 1000 });
    const { id } = await harness.send("go");
    await harness.advance(3000);
    expect(harness.engine.counts().live).toBe(0);
    harness.store.hold();
    const both = ["1", "1 again"].map((text) => harness.send({ taskId: id, parts: [{ text }] }));
    await harness.until(() => harness.store.held > 0);
    harness.store.release();
    const tasks = await Promise.all(both);
    expect(tasks.map(({ status }) => status.message?.parts[0]?.text)).toEqual(["Second?", "Second?"]);
  });

  test("that repeats an answer to a run on another node returns with the next question", async () => {
    await using first = await openHarness({ agents: twice });
    const second = await first.join();
    const { id } = await first.send("go");
    const both = ["1", "1 again"].map((text) => second.start({ taskId: id, parts: [{ text }] }));
    const waits = (await Promise.all(both)).map((ticket) => second.settled(ticket));
    await first.advance(3000);
    await Promise.all(waits);
    expect((await second.get(id)).status.message?.parts[0]?.text).toBe("Second?");
  });

  test("keeps waiting while the task sleeps", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await task.ask("First?");
        await task.sleep(60_000);
        await task.ask("Second?");
      }),
      parkAfter: 1000,
    });
    const { id } = await harness.send("go");
    let count = 0;
    const both = ["1", "1 again"].map(async (text) => {
      await harness.send({ taskId: id, parts: [{ text }] });
      count += 1;
    });
    await harness.advance(30_000);
    expect(count).toBe(0);
    await harness.advance(40_000);
    await Promise.all(both);
  });

  test("returns if task.next() reads its message while a question is open", async () => {
    let read: (() => void) | undefined;
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await new Promise<void>((resolve) => (read = resolve));
        const answer = task.ask("Question?");
        await task.flush();
        await task.next();
        await answer;
      }),
    });
    const { taskId } = await harness.start("go");
    const ticket = await harness.start({ taskId, parts: [{ text: "early" }] });
    read?.();
    await harness.until(async () => (await harness.shared.inbox(taskId)).length === 0);
    await harness.settled(ticket);
    expect((await harness.get(taskId)).status.state).toBe("input-required");
  });

  test("returns after maxWait, whatever the task does", async () => {
    await using harness = await openHarness({
      agents: scripted(async (task) => {
        await task.ask("First?");
        await task.sleep(1e9);
      }),
      limits: { maxWait: 5000 },
    });
    const { id } = await harness.send("go");
    const ticket = await harness.start({ taskId: id, parts: [{ text: "1" }] });
    let isSettled = false;
    const settled = harness.settled(ticket).then(() => (isSettled = true));
    await harness.advance(4500);
    expect(isSettled).toBe(false);
    await harness.advance(1000);
    await settled;
    expect((await harness.get(id)).status.state).toBe("working");
  });

  test("to an ended task returns immediately, also if the task is only in the store", async () => {
    await using harness = await openHarness({ agents: scripted(async () => "done") });
    const ticket = await harness.start("go");
    await harness.settled(ticket);
    await turns(5);
    await harness.settled(ticket);
    const later = await harness.crash();
    const found = await later.engine.find(later.scope(), ticket.taskId);
    if (found === undefined) throw new Error("The task is not in the store.");
    await later.settled(found);
  });
});

describe("loadConsumption", () => {
  const inbox = "m-1";
  const key = taskId(1);
  const feedAt = (seq: number): Feed => {
    const start = { createdAt: START, seq, interruptedAt: 1, state: "input-required", status: "{}" } as const;
    const task = { id: key, contextId: contextId(1), scope: SCOPE, dialect: "1.0/jsonrpc" };
    return new Feed(task, { ...start, metadata: undefined, questions: undefined }, { tailEvents: 1, tailBytes: 1 });
  };

  test("reports nothing while the store is ahead of the feed, because the message may have answered the feed's question", async () => {
    const store = createMemoryStore({ retention: {}, now: () => START });
    await store.commit([createOf(key), postOf(key, { id: inbox })]);
    const consuming = { entries: [statusEntry(2)], taken: [inbox], history: [{ after: 1, body: "{}", inbox }] };
    await store.commit([writeOf(key, consuming)]);
    const behind = feedAt(1);
    expect(await loadConsumption(store, behind, { inbox })).toBe(2);
    expect(behind.consumedAfter(inbox)).toBeUndefined();
    const upToDate = feedAt(2);
    expect(await loadConsumption(store, upToDate, { inbox })).toBeUndefined();
    expect(upToDate.consumedAfter(inbox)).toBe(1);
  });

  test("reads again if the feed advances during the read", async () => {
    const store = createMemoryStore({ retention: {}, now: () => START });
    await store.commit([createOf(key), postOf(key, { id: inbox })]);
    const consuming = { entries: [statusEntry(2)], taken: [inbox], history: [{ after: 1, body: "{}", inbox }] };
    await store.commit([writeOf(key, consuming)]);
    const feed = feedAt(2);
    let reads = 0;
    const get: Store["get"] = async (...args) => {
      const record = await store.get(...args);
      if (++reads > 1) return record;
      await store.commit([writeOf(key, { entries: [statusEntry(3)] })]);
      feed.seq = 3;
      return record;
    };
    const slow = { inbox: (id: TaskId) => store.inbox(id), get } as Store;
    expect(await loadConsumption(slow, feed, { inbox })).toBeUndefined();
    expect(reads).toBe(2);
    expect(feed.consumedAfter(inbox)).toBe(1);
  });

  test("a sealed answer, which is not in the history, was not consumed before the question that it answers", async () => {
    const store = createMemoryStore({ retention: {}, now: () => START });
    await store.commit([createOf(key), postOf(key, { id: inbox })]);
    await store.commit([writeOf(key, { entries: [statusEntry(2)], taken: [inbox] })]);
    const working = feedAt(2);
    expect(await loadConsumption(store, working, { inbox, asked: 1 })).toBeUndefined();
    expect(isHandledAt(working, { inbox, asked: 1 }, 1)).toBe(false);
    expect(isHandledAt(working, { inbox, asked: 1 }, 2)).toBe(true);
  });

  test.each(Array.from({ length: 16 }, (_, index) => index))(
    "a send is answered if the feed catches up %d microtasks after the store was read",
    async (microtasks) => {
      const store = createMemoryStore({ retention: {}, now: () => START });
      await store.commit([createOf(key), postOf(key, { id: inbox })]);
      const asking = headOf("input-required", { active: false });
      await store.commit([
        writeOf(key, {
          entries: [statusEntry(2, "input-required")],
          head: asking,
          taken: [inbox],
          history: [{ after: 1, body: "{}", inbox }],
        }),
      ]);
      // The feed shows the question before; the store has the next one, asked after the message was consumed.
      const feed = feedAt(1);
      feed.questions = { open: [{ id: "q", prompt: "Well?" }], answered: [] };
      const get = store.get.bind(store);
      store.get = async (...asked) => {
        const record = await get(...asked);
        void (async () => {
          for (let count = 0; count < microtasks; count += 1) await Promise.resolve();
          if (record !== undefined && feed.seq < record.seq)
            feed.advance([{ seq: 2, body: statusEntry(2, "input-required").body, state: "input-required" }], undefined);
        })();
        return record;
      };
      const clock = new FakeClock();
      const answered = settled(
        // Safe: settled() uses only these parts.
        {
          store,
          feeds: { release: () => undefined },
          isClosing: () => false,
          environment: { clock, limits: DEFAULT_LIMITS },
        } as never,
        { feed, posted: { inbox, asked: 1, answers: ["q"] } },
        { signal: new AbortController().signal },
      ).then(() => "answered");
      expect(await Promise.race([answered, turns(20).then(() => "waits")])).toBe("answered");
    },
  );
});
