import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isTerminal, TASK_STATES, type TaskState } from "../../protocol/state.ts";
import { planMove } from "./transition.ts";

/** For each state: where it may go at once (`+`), through working (`w`), or not at all (`-`), in the order of TASK_STATES. */
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

describe("planMove", () => {
  test.each(cases)("from $from to $to: $mark", ({ from, to, mark }) => {
    const refused = { ok: false, reason: expect.stringContaining(from) };
    const allowed = { ok: true, via: mark === "w" ? ["working"] : [] };
    expect(planMove(from, to)).toEqual(mark === "-" ? refused : allowed);
  });

  test("whatever is asked in whatever order, a terminal state stays and submitted does not come back", () => {
    const state = fc.constantFrom(...TASK_STATES);
    fc.assert(
      fc.property(fc.array(state, { maxLength: 30 }), (wishes) => {
        const path: TaskState[] = ["submitted"];
        for (const wish of wishes) {
          const move = planMove(path.at(-1) ?? "submitted", wish);
          if (move.ok) path.push(...move.via, wish);
        }
        expect(path.lastIndexOf("submitted")).toBe(0);
        expect(path.slice(0, -1).some(isTerminal)).toBe(false);
      }),
    );
  });

  test("a move through working is made of moves that are legal by themselves", () => {
    for (const { from, to } of cases) {
      const move = planMove(from, to);
      if (!move.ok || move.via.length === 0) continue;
      let at = from;
      for (const next of [...move.via, to]) {
        expect(planMove(at, next)).toEqual({ ok: true, via: [] });
        at = next;
      }
    }
  });
});
