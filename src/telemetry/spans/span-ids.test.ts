import { describe, expect, it } from "vitest";
import { attemptContext, derivedSpanId, derivedTraceId, randomSpanId, randomTraceId } from "./span-ids.ts";

const WORK = { taskId: "t", turn: 1, attempt: 1, kind: "step", key: "step:a#1" } as const;

describe("The derived id of a span", () => {
  it("is the same in every release: traces that were exported before an update must stay connected", () => {
    expect(derivedSpanId(WORK)).toBe("1c62a6898766f3c3");
    expect(derivedTraceId("t")).toBe("abd8a72522e90dcce13850725d980456");
  });

  it("differs if any part of the work differs", () => {
    const others = [
      WORK,
      { ...WORK, taskId: "u" },
      { ...WORK, turn: 2 },
      { ...WORK, attempt: 2 },
      { ...WORK, kind: "question" } as const,
      { ...WORK, key: "step:a#2" },
      { ...WORK, taskId: "t\n1", turn: 1 },
    ];
    expect(new Set(others.map(derivedSpanId)).size).toBe(others.length);
  });

  it("is a valid id, and 200 000 pieces of work have 200 000 ids", () => {
    const ids = new Set<string>();
    for (let n = 0; n < 200_000; n++) ids.add(derivedSpanId({ ...WORK, taskId: `task-${n >> 4}`, attempt: n & 15 }));
    expect(ids.size).toBe(200_000);
    for (const id of ids) if (!/^(?!0{16})[0-9a-f]{16}$/.test(id)) expect(id).toBe("a valid id");
  });

  it("of an attempt keeps trace, flags and state of the task", () => {
    const trace = { traceId: "a".repeat(32), spanId: "b".repeat(16), flags: 0, state: "v=1" };
    const context = attemptContext(trace, { taskId: "t", turn: 1, attempt: 2 });
    expect(context).toEqual({ ...trace, spanId: derivedSpanId({ ...WORK, attempt: 2, kind: "attempt", key: "" }) });
  });
});

it("random ids are valid and differ", () => {
  const ids = Array.from({ length: 2000 }, randomSpanId);
  expect(new Set(ids).size).toBe(2000);
  expect(ids.every((id) => /^[0-9a-f]{16}$/.test(id))).toBe(true);
  expect(randomTraceId()).toMatch(/^[0-9a-f]{32}$/);
});
