import { describe, expect, test } from "vitest";
import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { TaskState } from "../../protocol/state.ts";
import { Feed, type FeedStatus } from "./feed.ts";
import { LogView } from "./log-view.ts";

// Safe: ids for this test.
const ref = {
  id: "t" as TaskId,
  contextId: "c" as ContextId,
  scope: { agent: "a", tenant: "", owner: "o" },
  dialect: "test",
};
const statusOf = (state: TaskState): FeedStatus => ({
  state,
  status: `{"state":"${state}"}`,
  metadata: undefined,
  questions: undefined,
});

function openFeed(
  limits: { readonly tailEvents: number; readonly tailBytes: number } = { tailEvents: 10, tailBytes: 1000 },
): Feed {
  return new Feed(ref, { createdAt: 0, seq: 0, ...statusOf("submitted"), interruptedAt: 0 }, limits);
}

/** Events of ten bytes each. */
function events(from: number, to: number): LogView[] {
  return Array.from({ length: to - from + 1 }, (_, index) => new LogView(from + index, "0123456789"));
}

const seqsOf = (entries: readonly { readonly seq: number }[] | undefined): number[] | undefined =>
  entries?.map(({ seq }) => seq);

describe("a feed", () => {
  test("returns the events after a cursor, or undefined if it does not have them all", () => {
    const feed = openFeed({ tailEvents: 3, tailBytes: 1000 });
    feed.advance(events(1, 5), statusOf("working"));
    expect(seqsOf(feed.read(5))).toEqual([]);
    expect(seqsOf(feed.read(3))).toEqual([4, 5]);
    expect(seqsOf(feed.read(2))).toEqual([3, 4, 5]);
    expect(feed.read(1)).toBeUndefined();
  });

  test("keeps at most tailBytes, but always the newest event", () => {
    const feed = openFeed({ tailEvents: 100, tailBytes: 25 });
    feed.advance(events(1, 5), undefined);
    expect(seqsOf(feed.read(3))).toEqual([4, 5]);
    expect(feed.read(2)).toBeUndefined();
    feed.advance([new LogView(6, "x".repeat(100))], undefined);
    expect(seqsOf(feed.read(5))).toEqual([6]);
  });

  test("does not go back if a commit is reported after later events were found in the store", () => {
    const feed = openFeed();
    feed.advance(events(1, 2), statusOf("working"));
    feed.advanceTo(6, { ...statusOf("completed"), interruptedAt: 0 });
    feed.advance(events(3, 4), statusOf("working"));
    expect([feed.seq, feed.state]).toEqual([6, "completed"]);
    expect(feed.read(2)).toBeUndefined();
    expect(seqsOf(feed.read(6))).toEqual([]);
  });

  test("calls each waiting callback once, and no canceled one", () => {
    const feed = openFeed();
    const woken: string[] = [];
    feed.onChange(() => woken.push("stays"));
    const forget = feed.onChange(() => woken.push("left"));
    forget();
    feed.advance(events(1, 1), undefined);
    feed.advance(events(2, 2), undefined);
    expect(woken).toEqual(["stays"]);
  });

  test("knows the last question, and which messages were consumed", () => {
    const feed = openFeed();
    feed.advance(
      [
        new LogView(1, "{}", { state: "working" }),
        new LogView(2, "{}", { state: "input-required" }),
        new LogView(3, "{}", { state: "working" }),
      ],
      statusOf("working"),
    );
    expect(feed.interruptedAt).toBe(2);
    feed.markConsumed("m1", 2);
    expect([feed.consumedAfter("m1"), feed.consumedAfter("m2")]).toEqual([2, undefined]);
    for (let n = 0; n < 300; n += 1) feed.markConsumed(`n${n}`, 3);
    expect([feed.consumedAfter("m1"), feed.consumedAfter("n299")]).toEqual([undefined, 3]);
  });
});
