import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { TaskId } from "./ids.ts";
import type { Scope } from "./principal.ts";
import { namedTask, otherTaskKey, publicTaskId, taskKey } from "./task-key.ts";

const scopes: fc.Arbitrary<Scope> = fc.record({ agent: fc.string(), tenant: fc.string(), owner: fc.string() });
const MADE = "0197f0a1-2b3c-7d4e-8f50-0123456789ab" as TaskId;

describe("The key of a task with a client-chosen id", () => {
  it("contains the id, whatever the scope and the id are", () => {
    fc.assert(
      fc.property(scopes, fc.string({ unit: "binary" }), (scope, name) => {
        expect(publicTaskId(namedTask(scope, name))).toBe(name);
      }),
      { seed: 1 },
    );
  });

  it("differs if the scope or the id differs", () => {
    const pairs = fc.tuple(scopes, fc.string());
    fc.assert(
      fc.property(pairs, pairs, ([one, name], [other, otherName]) => {
        const same = JSON.stringify([one, name]) === JSON.stringify([other, otherName]);
        expect(namedTask(one, name) === namedTask(other, otherName)).toBe(same);
      }),
      { seed: 1 },
    );
    const scope = { agent: "a", tenant: "", owner: "b~c" };
    expect(namedTask(scope, "x")).not.toBe(namedTask({ agent: "a", tenant: "", owner: "b" }, "c~x"));
  });

  it("is the id itself for a task whose id the server created", () => {
    expect(publicTaskId(MADE)).toBe(MADE);
    expect(taskKey({ agent: "a", tenant: "", owner: "o" }, MADE)).toBe(MADE);
  });

  it("has a second candidate if the client-chosen id looks like an id of the server", () => {
    const scope = { agent: "a", tenant: "t", owner: "o" };
    expect(otherTaskKey(scope, MADE)).toBe(namedTask(scope, MADE));
    for (const name of ["task-1", "~a~t~o~x", ""] as TaskId[]) {
      expect(taskKey(scope, name)).toBe(namedTask(scope, name));
      expect(otherTaskKey(scope, name)).toBeUndefined();
    }
  });
});
