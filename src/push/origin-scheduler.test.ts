import { describe, expect, it } from "vitest";
import { turns } from "../testing/engine-harness.ts";
import { type OriginQueue, OriginScheduler } from "./origin-scheduler.ts";

/** A scheduler whose work items end when the test ends them. */
function open(limits: { total: number; perOrigin: number }) {
  const started: string[] = [];
  const under = new Map<string, OriginQueue<string>>();
  const scheduler = new OriginScheduler<string>(limits, (item, queue) => {
    started.push(item);
    under.set(item, queue);
  });
  const joined = new Map<string, OriginQueue<string>>();
  const add = (item: string): void => {
    const origin = item.slice(0, 1);
    const queue = joined.get(origin) ?? scheduler.join(origin);
    joined.set(origin, queue);
    scheduler.add(queue, item);
  };
  const end = (item: string, silent?: boolean): void => {
    const queue = under.get(item);
    if (queue !== undefined) scheduler.done(queue, silent);
  };
  return {
    scheduler,
    started,
    add,
    end,
    leave(origin: string) {
      const queue = joined.get(origin);
      joined.delete(origin);
      if (queue !== undefined) scheduler.leave(queue);
    },
    /** Each of these origins has answered once. */
    async answered(origins: string) {
      for (const origin of origins) {
        add(`${origin}0`);
        await turns(1);
        end(`${origin}0`, false);
      }
      started.length = 0;
    },
  };
}

describe("OriginScheduler", () => {
  it("limits the work per origin, and origins take turns", async () => {
    const { add, end, started, answered } = open({ total: 4, perOrigin: 2 });
    await answered("abc");
    for (const item of ["a1", "a2", "a3", "a4", "b1", "b2", "b3", "c1"]) add(item);
    expect(started).toEqual([]);
    await turns(1);
    expect(started).toEqual(["a1", "b1", "c1", "a2"]);
    end("c1");
    expect(started.slice(4)).toEqual(["b2"]);
    end("a1");
    end("b1");
    expect(started.slice(5)).toEqual(["a3", "b3"]);
  });

  it("leaves half of the slots to origins that answer", async () => {
    const { add, end, started, answered } = open({ total: 4, perOrigin: 4 });
    await answered("ab");
    for (const item of ["a1", "a2", "a3", "a4", "a5", "a6"]) add(item);
    await turns(1);
    expect(started).toHaveLength(4);
    for (const item of ["a1", "a2", "a3", "a4"]) end(item, true);
    expect(started).toEqual(["a1", "a2", "a3", "a4", "a5", "a6"]);
    for (const item of ["a7", "a8"]) add(item);
    await turns(1);
    expect(started).toHaveLength(6);
    for (const item of ["b1", "b2", "b3"]) add(item);
    await turns(1);
    expect(started.slice(6)).toEqual(["b1", "b2"]);
    // After an answer, the origin counts as answering again.
    end("a5", false);
    expect(started.slice(8)).toEqual(["b3"]);
    end("b1");
    expect(started.slice(9)).toEqual(["a7"]);
  });

  it("always has a slot for origins known to answer, however many new origins never answer", async () => {
    const { add, end, leave, started, answered } = open({ total: 8, perOrigin: 2 });
    await answered("k");
    leave("k");
    for (const origin of "abcdefghij") add(`${origin}1`);
    await turns(1);
    expect(started).toEqual(["a1", "b1", "c1", "d1", "e1", "f1"]);
    for (const item of ["k1", "k2", "k3"]) add(item);
    await turns(1);
    expect(started.slice(6)).toEqual(["k1", "k2"]);
    end("a1", true);
    expect(started.slice(8)).toEqual(["g1"]);
    // Answering origins do not block new ones either.
    end("b1", false);
    end("k1", false);
    expect(started.slice(9)).toEqual(["h1", "k3"]);
  });

  it("keeps the order of thousands of items, and drops finished items from memory", async () => {
    const { add, end, started, scheduler } = open({ total: 1, perOrigin: 1 });
    const items = Array.from({ length: 5000 }, (_, index) => `a${index}`);
    for (const item of items) add(item);
    await turns(1);
    for (const item of items) end(item);
    expect(started).toEqual(items);
    expect(scheduler.running).toBe(0);
    const queue = scheduler.join("a");
    expect(queue.items.length).toBeLessThan(200);
  });

  it("starts nothing after close()", async () => {
    const { add, end, started, scheduler } = open({ total: 1, perOrigin: 1 });
    add("a1");
    add("a2");
    await turns(1);
    scheduler.close();
    end("a1");
    await turns(1);
    expect(started).toEqual(["a1"]);
  });
});
