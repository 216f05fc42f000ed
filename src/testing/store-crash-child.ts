import { openSqliteStore } from "../store/sqlite/store.ts";
import { chunkEntry, claimOf, createOf, endOf, headOf, taskId, writeOf } from "./store-operations.ts";

/**
 * A process made to be killed: goes on with the tasks it finds in a file, several at a time, and prints a line
 * `task seq` for each entry once the store has acknowledged it. Takes the file and how many tasks there are to be.
 */
const [file = "", lanes = "4"] = process.argv.slice(2);
const ENTRIES_PER_TASK = 40;

const store = await openSqliteStore({ file });
process.stdout.write("open\n");

async function work(lane: number): Promise<void> {
  for (let n = lane; ; n += Number(lanes)) {
    const task = taskId(n);
    const [position] = await store.positions([task]);
    if (position?.ended) continue;
    let seq = position?.seq ?? 0;
    let epoch = 1;
    if (position !== undefined) {
      const [outcome] = await store.commit([claimOf(task, "child")]);
      epoch = outcome?.status === "ok" ? (outcome.epoch ?? 0) : 0;
    }
    while (seq < ENTRIES_PER_TASK) {
      seq += 1;
      const entry = chunkEntry(seq, `${n}/${seq}`, seq > 1);
      const [outcome] = await store.commit([
        seq === 1
          ? createOf(task, { node: "child" }, { entries: [entry], head: headOf("working") })
          : seq === ENTRIES_PER_TASK
            ? writeOf(task, { epoch, end: { ...endOf(seq), entry } })
            : writeOf(task, { epoch, entries: [entry] }),
      ]);
      if (outcome?.status !== "ok") throw new Error(`${task} ${seq}: ${outcome?.status}`);
      process.stdout.write(`${n} ${seq}\n`);
    }
  }
}

await Promise.all(Array.from({ length: Number(lanes) }, (_, lane) => work(lane)));
