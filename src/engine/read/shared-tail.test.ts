import { afterEach, describe, expect, test } from "vitest";
import type { Bus, Hint } from "../../bus/contract.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { type EngineHarness, openHarness, scripted, turns } from "../../testing/engine-harness.ts";

const READERS = 5;

let harness: EngineHarness;
afterEach(() => harness[Symbol.asyncDispose]());

/** An agent that writes a chunk for each call of `write`, and a second node that follows its task. */
async function twoNodes(): Promise<{
  readonly id: TaskId;
  readonly other: EngineHarness;
  readonly write: (count: number) => Promise<void>;
}> {
  let wanted = 0;
  let written = 0;
  harness = await openHarness({
    agents: scripted(async (task) => {
      for (;;) {
        while (written === wanted) await turns(1);
        written += 1;
        await task.artifact("a").write(`${written} `);
        await task.flush();
      }
    }),
  });
  const other = await harness.join();
  const { taskId } = await harness.start("go");
  const write = async (count: number): Promise<void> => {
    wanted += count;
    await harness.until(async () => ((await harness.shared.positions([taskId]))[0]?.seq ?? 0) === wanted + 1);
    await turns(10);
  };
  return { id: taskId, other, write };
}

describe("the events of a task that another node writes", () => {
  test("are read from the store once for all subscribers of this node, which share the encoded text", async () => {
    const { id, other, write } = await twoNodes();
    const readers = await Promise.all(Array.from({ length: READERS }, () => other.subscribe(id)));
    const reads = other.store.logReads;
    await write(3);
    const batches = await Promise.all(readers.map((reader) => reader.next()));
    const [first] = batches;
    expect(first?.entries.map(({ seq }) => seq)).toEqual([2, 3, 4]);
    for (const batch of batches) expect(batch?.entries).toEqual(first?.entries);
    expect(new Set(batches.map((batch) => batch?.entries[0]?.encoded)).size).toBe(1);
    expect(first?.entries[0]?.encoded).toBeDefined();
    expect(other.store.logReads - reads).toBeLessThanOrEqual(3);
    for (const reader of readers) reader.close();
  });

  test("are found by the next poll if every hint is lost", async () => {
    const { id, other, write } = await twoNodes();
    harness.bus.publish = () => {};
    const reader = await other.subscribe(id);
    await write(2);
    const next = reader.next();
    expect(await Promise.race([next, turns(20).then(() => "waits")])).toBe("waits");
    await harness.advance(1100, 100);
    expect((await next)?.entries.map(({ seq }) => seq)).toEqual([2, 3]);
    reader.close();
  });
});

describe("hints", () => {
  /** Notes what the engines publish and watch. */
  function spyOn(bus: Bus): { readonly batches: (readonly Hint[])[]; readonly watched: Set<TaskId> } {
    const batches: (readonly Hint[])[] = [];
    const watched = new Set<TaskId>();
    const publish = bus.publish.bind(bus);
    bus.publish = (hints) => {
      batches.push(hints);
      publish(hints);
    };
    bus.watch = (task) => {
      watched.add(task);
      return () => watched.delete(task);
    };
    return { batches, watched };
  }

  test("of one commit are published together, each with the last seq of its task", async () => {
    harness = await openHarness({ agents: scripted(async () => "done") });
    const { batches } = spyOn(harness.bus);
    await Promise.all(Array.from({ length: 20 }, (_, index) => harness.send(`${index}`)));
    expect(harness.store.commits).toHaveLength(1);
    expect(batches).toHaveLength(1);
    expect(batches[0]).toHaveLength(20);
    for (const hint of batches[0] ?? []) expect(hint).toMatchObject({ kind: "log", seq: 3 });
  });

  test("of a task are watched while this node follows it and another one writes it", async () => {
    const { id, other } = await twoNodes();
    const { watched } = spyOn(other.bus);
    const own = await harness.subscribe(id);
    expect(watched.size).toBe(0);
    const reader = await other.subscribe(id);
    expect([...watched]).toEqual([id]);
    reader.close();
    own.close();
    await turns(5);
    expect(watched.size).toBe(0);
  });

  test("about an inbox name the node that holds the lease", async () => {
    harness = await openHarness({ agents: scripted((task) => task.ask("Well?")) });
    const other = await harness.join();
    const { taskId } = await harness.start("go");
    await harness.untilState(taskId, "input-required");
    const { batches } = spyOn(other.bus);
    await other.send({ taskId, parts: [{ text: "yes" }] });
    expect(batches.flat()).toContainEqual({ kind: "inbox", task: taskId, node: harness.node });
  });

  test("that may be lost make a node read everything once after it has reconnected", async () => {
    const { id, write } = await twoNodes();
    const subscribers: Parameters<Bus["subscribe"]>[0][] = [];
    const subscribe = harness.bus.subscribe.bind(harness.bus);
    harness.bus.subscribe = (subscriber) => {
      subscribers.push(subscriber);
      return subscribe(subscriber);
    };
    const third = await harness.join();
    harness.bus.publish = () => {};
    const reader = await third.subscribe(id);
    await write(1);
    for (const subscriber of subscribers) subscriber.onReconnect();
    expect((await reader.next())?.entries.map(({ seq }) => seq)).toEqual([2]);
    reader.close();
  });
});
