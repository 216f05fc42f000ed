import { describe, expect, test } from "vitest";
import { LogView, viewOf } from "./log-view.ts";

describe("the encoded texts of an event", () => {
  test("are cached, one per protocol version, while several subscriptions read the task", () => {
    const readership = { readers: 2 };
    const view = new LogView(1, "{}", { readership });
    view.encoded?.set("1.0", "a");
    view.encoded?.set("0.3", "b");
    view.encoded?.set("1.0", "c");
    expect(["1.0", "0.3", "0.2"].map((key) => view.encoded?.get(key))).toEqual(["c", "b", undefined]);
    readership.readers = 1;
    expect(view.encoded?.get("0.3")).toBe("b");
  });

  test("are not cached for a single subscription, nor for events that were read from the store", () => {
    expect(new LogView(1, "{}", { readership: { readers: 1 } }).encoded).toBeUndefined();
    expect(viewOf({ seq: 1, body: '{"artifact":{}}' }).encoded).toBeUndefined();
  });
});

test("an event read from the store has its state and no note", () => {
  const body = '{"status":{"state":"TASK_STATE_WORKING","timestamp":"2030-01-01T00:00:00.000Z"}}';
  expect(viewOf({ seq: 3, body, note: "n" })).toMatchObject({ seq: 3, body, state: "working" });
  expect(viewOf({ seq: 3, body, note: "n" }).note).toBeUndefined();
});
