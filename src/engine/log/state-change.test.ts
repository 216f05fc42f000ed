import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTerminal, TASK_STATES, type TaskState } from "../../protocol/state.ts";
import { planStateChange } from "./state-change.ts";

/** For each state, in the order of TASK_STATES: it may become that state directly (`+`), via working (`w`), or never (`-`). */
const TABLE: Readonly<Record<TaskState, string>> = {
  //                 sub wor inp aut com fai can rej
  submitted: "        -   +   w   w   w   +   +   +",
  working: "          -   +   +   +   +   +   +   +",
  "input-required": " -   +   w   w   w   +   +   +",
  "auth-required": "  -   +   w   w   w   +   +   +",
  completed: "        -   -   -   -   -   -   -   -",
  failed: "           -   -   -   -   -   -   -   -",
  canceled: "         -   -   -   -   -   -   -   -",
  rejected: "         -   -   -   -   -   -   -   -",
};

const cases = TASK_STATES.flatMap((from) => {
  const row = TABLE[from].trim().split(/\s+/);
  return TASK_STATES.map((to, index) => ({ from, to, mark: row[index] }));
});

describe("planStateChange", () => {
  test.each(cases)("from $from to $to: $mark", ({ from, to, mark }) => {
    const forbidden = { ok: false, reason: expect.stringContaining(from) };
    const allowed = { ok: true, via: mark === "w" ? ["working"] : [] };
    expect(planStateChange(from, to)).toEqual(mark === "-" ? forbidden : allowed);
  });

  test("after any sequence of requested changes, a terminal state is final and submitted never returns", () => {
    const state = fc.constantFrom(...TASK_STATES);
    fc.assert(
      fc.property(fc.array(state, { maxLength: 30 }), (requests) => {
        const path: TaskState[] = ["submitted"];
        for (const request of requests) {
          const plan = planStateChange(path.at(-1) ?? "submitted", request);
          if (plan.ok) path.push(...plan.via, request);
        }
        expect(path.lastIndexOf("submitted")).toBe(0);
        expect(path.slice(0, -1).some(isTerminal)).toBe(false);
      }),
    );
  });

  test("each half of a change via working is allowed on its own", () => {
    for (const { from, to } of cases) {
      const plan = planStateChange(from, to);
      if (!plan.ok || plan.via.length === 0) continue;
      let state = from;
      for (const next of [...plan.via, to]) {
        expect(planStateChange(state, next)).toEqual({ ok: true, via: [] });
        state = next;
      }
    }
  });
});
