import assert from "node:assert/strict";
import fc from "fast-check";
import type { TaskId } from "../protocol/ids.ts";
import { TASK_STATES, type TaskState } from "../protocol/state.ts";
import type { ListQuery, Store, StoreOperation } from "../store/contract.ts";
import { readPages } from "./store-list-cases.ts";
import { contextId, createOf, endOf, headOf, SCOPE, START, statusEntry, taskId, writeOf } from "./store-operations.ts";

/** What one step of the model does: makes a task, gives one a new status, or ends one. */
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
const query = fc.record(
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
 * Drives random batches into a fresh store and into a list of plain objects, and compares what they list and count, for every
 * combination of filters.
 */
export async function checkListAgainstModel(open: () => Promise<Store>, runs: number): Promise<void> {
  const batches = fc.array(fc.array(move, { maxLength: 8 }), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(batches, fc.array(query, { minLength: 8, maxLength: 16 }), async (rounds, queries) => {
      const store = await open();
      try {
        const model: ModelTask[] = [];
        for (const moves of rounds) {
          const operations = moves.flatMap((next) => play(model, next) ?? []);
          for (const outcome of await store.commit(operations)) assert.equal(outcome.status, "ok");
        }
        for (const { owner, context, state, since, limit } of queries) {
          const expected = model
            .filter(
              (task) =>
                task.owner === owner &&
                (context === undefined || task.context === context) &&
                (state === undefined || task.state === state) &&
                (since === undefined || task.at >= since),
            )
            .sort((a, b) => b.at - a.at || (a.id < b.id ? 1 : -1));
          const asked: ListQuery = {
            scope: { ...SCOPE, owner },
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
      } finally {
        await store.close();
      }
    }),
    { numRuns: runs },
  );
}

function play(model: ModelTask[], next: Move): StoreOperation | undefined {
  const { state, at } = next.status;
  const head = headOf(state, { statusAt: START + at });
  if (next.kind === "create") {
    const id = taskId(model.length);
    // Only the first task of a context can have come without the caller naming it.
    const contextShared =
      next.shared || model.some((task) => task.owner === next.owner && task.context === next.context);
    model.push({ id, owner: next.owner, context: next.context, state, at, seq: 1, ended: false });
    const create = {
      contextId: contextId(next.context),
      contextShared,
      scope: { ...SCOPE, owner: next.owner },
    };
    return createOf(id, create, { head });
  }
  const index = next.pick % Math.max(1, model.length);
  const task = model[index];
  if (task === undefined || task.ended) return undefined;
  const ended = next.kind === "end";
  const seq = task.seq + 1;
  model[index] = { ...task, state, at, seq, ended };
  return ended
    ? writeOf(task.id, { end: endOf(seq, { head }) })
    : writeOf(task.id, { entries: [statusEntry(seq, state)], head });
}
