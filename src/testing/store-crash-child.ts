import type { TaskId } from "../protocol/ids.ts";
import type { StoreOperation } from "../store/contract.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import {
  advanceOf,
  chunkEntry,
  claimOf,
  claimWebhookOf,
  createOf,
  endOf,
  headOf,
  taskId,
  webhookOf,
  writeOf,
} from "./store-operations.ts";

/**
 * A process for tests to kill. It continues the tasks of a store file, several at a time, and prints a line `task seq` for each entry
 * after the store has acknowledged it. Each commit also advances the cursor of the task's webhook to the entry before. Arguments: the file and
 * the number of tasks.
 */
const [file = "", workers = "4"] = process.argv.slice(2);
const ENTRIES_PER_TASK = 40;

const store = await openSqliteStore({ file });
process.stdout.write("open\n");

async function claimed(operation: StoreOperation): Promise<number> {
  const [outcome] = await store.commit([operation]);
  return outcome?.status === "ok" ? (outcome.epoch ?? 0) : 0;
}

/** Adds one entry; resolves once the store has acknowledged it. */
async function add(task: TaskId, operations: readonly StoreOperation[]): Promise<void> {
  for (const { status } of await store.commit(operations)) if (status !== "ok") throw new Error(`${task}: ${status}`);
}

async function work(worker: number): Promise<void> {
  for (let n = worker; ; n += Number(workers)) {
    const task = taskId(n);
    const [position] = await store.positions([task]);
    if (position?.ended) continue;
    let seq = position?.seq ?? 0;
    if (position === undefined) {
      seq = 1;
      const entries = [chunkEntry(1, `${n}/1`, false)];
      await add(task, [
        createOf(task, { node: "child", webhook: webhookOf("w") }, { entries, head: headOf("working") }),
      ]);
      process.stdout.write(`${n} 1\n`);
    }
    const epoch = position === undefined ? 1 : await claimed(claimOf(task, "child"));
    const webhookEpoch = await claimed(claimWebhookOf(task, "w", "child"));
    while (seq < ENTRIES_PER_TASK) {
      seq += 1;
      const entry = chunkEntry(seq, `${n}/${seq}`);
      const write = seq === ENTRIES_PER_TASK ? { end: { ...endOf(seq), entry } } : { entries: [entry] };
      await add(task, [
        writeOf(task, { epoch, ...write }),
        advanceOf(task, "w", { epoch: webhookEpoch, cursor: seq - 1 }),
      ]);
      process.stdout.write(`${n} ${seq}\n`);
    }
  }
}

await Promise.all(Array.from({ length: Number(workers) }, (_, worker) => work(worker)));
