import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { sqliteTrial } from "../../../testing/sqlite-trial.ts";
import {
  chunkEntry,
  createOf,
  endOf,
  headOf,
  statusEntry,
  taskId,
  writeOf,
} from "../../../testing/store-operations.ts";

const T = taskId(1);

test("a task and its log agree while the writer thread is ahead of its reports", async () => {
  await using trial = await sqliteTrial();
  const store = await trial.open();
  await store.commit([createOf(T)]);
  const observer = new DatabaseSync(trial.file, { readOnly: true });
  const written = observer.prepare("SELECT max(last) AS last FROM log");
  const steps = [
    writeOf(T, { entries: [chunkEntry(2, "a", false), chunkEntry(3, "b")] }),
    writeOf(T, { entries: [statusEntry(4, "input-required")], head: headOf("input-required") }),
    writeOf(T, { entries: [chunkEntry(5, "c")], end: endOf(6) }),
  ];
  for (const [write, seq] of steps.map((step, index) => [step, [3, 4, 6][index]] as const)) {
    const committing = store.commit([write]);
    // No turn of the event loop, so that the report cannot arrive: only the file has the entry.
    for (const deadline = Date.now() + 10_000; written.get()?.["last"] !== seq && Date.now() < deadline; );
    const reads = [store.get(T, { artifacts: false }), store.positions([T]), store.log(T, 0, 1e6)] as const;
    const [record, [position], log] = await Promise.all(reads);
    expect(record?.seq).toBe(seq);
    expect(position).toEqual({ id: T, seq, ended: seq === 6 });
    expect(log.map((entry) => entry.seq)).toEqual(Array.from({ length: seq ?? 0 }, (_, index) => index + 1));
    await committing;
  }
  observer.close();
});
