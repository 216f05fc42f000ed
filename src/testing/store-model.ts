import assert from "node:assert/strict";
import fc from "fast-check";
import type { TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import { TASK_STATES, type TaskState } from "../protocol/state.ts";
import type { ListQuery, Store, StoreOperation, TaskHead } from "../store/contract.ts";
import { readPages } from "./store/list-cases.ts";
import { contextId, createOf, endOf, headOf, SCOPE, START, statusEntry, taskId, writeOf } from "./store-operations.ts";

/** One step of the model: create a task, change the status of a task, or end a task. */
type Move =
  | {
      readonly kind: "create";
      readonly owner: string;
      readonly context: number;
      readonly shared: boolean;
      readonly status: Status;
    }
  | { readonly kind: "status"; readonly pick: number; readonly status: Status }
  | { readonly kind: "end"; readonly pick: number; readonly status: Status };
interface Status {
  readonly state: TaskState;
  readonly at: number;
}

interface Query {
  readonly owner: string;
  readonly context?: number | undefined;
  readonly state?: TaskState | undefined;
  readonly since?: number | undefined;
  readonly limit: number;
}

interface ModelTask extends Status {
  readonly id: TaskId;
  readonly owner: string;
  readonly context: number;
  readonly seq: number;
  readonly ended: boolean;
}

const OWNERS = ["ada", "bob"];
const status = fc.record({
  state: fc.constantFrom(...TASK_STATES),
  at: fc.oneof(fc.nat(8), fc.nat(5000), fc.nat(600_000_000)),
});
const pick = fc.nat(1000);
const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({
    kind: fc.constant("create" as const),
    owner: fc.constantFrom(...OWNERS),
    context: fc.nat(3),
    shared: fc.boolean(),
    status,
  }),
  fc.record({ kind: fc.constant("status" as const), pick, status }),
  fc.record({ kind: fc.constant("end" as const), pick, status }),
);
const query: fc.Arbitrary<Query> = fc.record(
  {
    owner: fc.constantFrom(...OWNERS),
    context: fc.nat(4),
    state: fc.constantFrom(...TASK_STATES),
    since: fc.oneof(fc.nat(8), fc.nat(5000), fc.nat(600_000_000)),
    limit: fc.integer({ min: 1, max: 7 }),
  },
  { requiredKeys: ["owner", "limit"] },
);

/**
 * Applies random batches to a store and to a list of plain objects, and compares their lists and counts for random
 * combinations of filters. Each run uses its own scopes, so all runs can share one store.
 */
export async function checkListAgainstModel(store: Store, runs: number): Promise<void> {
  const batches = fc.array(fc.array(move, { maxLength: 8 }), { maxLength: 8 });
  const queries = fc.array(query, { minLength: 8, maxLength: 16 });
  let run = 0;
  const property = fc.asyncProperty(batches, queries, async (rounds, asked) => {
    const model = new Model(run++);
    for (const moves of rounds) {
      const operations = moves.flatMap((next) => model.play(next) ?? []);
      for (const outcome of await store.commit(operations)) assert.equal(outcome.status, "ok");
    }
    for (const next of asked) await model.compare(store, next);
  });
  await fc.assert(property, { numRuns: runs });
}

class Model {
  readonly #run: number;
  readonly #tasks: ModelTask[] = [];

  constructor(run: number) {
    this.#run = run;
  }

  /** Applies the step to the model and returns the same operation for the store; `undefined` if there is no open task to change. */
  play(next: Move): StoreOperation | undefined {
    const { state, at } = next.status;
    const head = headOf(state, { statusAt: START + at });
    if (next.kind === "create") return this.#create(next, head);
    const index = next.pick % Math.max(1, this.#tasks.length);
    const task = this.#tasks[index];
    if (task === undefined || task.ended) return undefined;
    const ended = next.kind === "end";
    const seq = task.seq + 1;
    this.#tasks[index] = { ...task, state, at, seq, ended };
    return ended
      ? writeOf(task.id, { end: endOf(seq, { head }) })
      : writeOf(task.id, { entries: [statusEntry(seq, state)], head });
  }

  async compare(store: Store, { owner, context, state, since, limit }: Query): Promise<void> {
    const expected = this.#tasks
      .filter(
        (task) =>
          task.owner === owner &&
          (context === undefined || task.context === context) &&
          (state === undefined || task.state === state) &&
          (since === undefined || task.at >= since),
      )
      .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
    const asked: ListQuery = {
      scope: this.#scopeOf(owner),
      limit,
      artifacts: false,
      history: 0,
      ...(context !== undefined && { contextId: contextId(context) }),
      ...(state !== undefined && { state }),
      ...(since !== undefined && { statusSince: START + since }),
    };
    const read = await readPages(store, asked);
    assert.deepEqual(
      read.map((task) => [task.id, task.head.state, task.head.statusAt, task.seq]),
      expected.map((task) => [task.id, task.state, START + task.at, task.seq]),
    );
    assert.equal((await store.list(asked)).total, expected.length);
  }

  #create({ owner, context, shared, status }: Extract<Move, { kind: "create" }>, head: TaskHead): StoreOperation {
    const id = taskId(this.#run * 1000 + this.#tasks.length);
    // Only the first task of a context can be created without a context id from the caller.
    const contextShared = shared || this.#tasks.some((task) => task.owner === owner && task.context === context);
    this.#tasks.push({ id, owner, context, ...status, seq: 1, ended: false });
    return createOf(id, { contextId: contextId(context), contextShared, scope: this.#scopeOf(owner) }, { head });
  }

  #scopeOf(owner: string): Scope {
    return { ...SCOPE, agent: `agent-${this.#run}`, owner };
  }
}
