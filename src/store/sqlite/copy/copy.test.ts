import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { sqliteTrial } from "../../../testing/sqlite-trial.ts";
import { outcomes } from "../../../testing/store/results.ts";
import {
  chunkEntry,
  createOf,
  endOf,
  statusEntry,
  taskId,
  tracedEntry,
  writeOf,
} from "../../../testing/store-operations.ts";
import type { LogEntry } from "../../contract.ts";
import { copyRecords } from "../../copy/copy-records.ts";
import { openSqliteSource } from "./open-sqlite-source.ts";
import { openSqliteTarget } from "./open-sqlite-target.ts";

const ENDED = taskId(1);
const RUNNING = taskId(2);

/** All texts of logs in a file, each as it is stored. */
function textsIn(file: string): readonly string[] {
  const database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare(
      "SELECT log AS body FROM task WHERE log IS NOT NULL UNION ALL SELECT body FROM log UNION ALL SELECT body FROM segment",
    )
    .all();
  database.close();
  return rows.map(({ body }) => String(body));
}

test("a copy of traced tasks has the same events, and their metadata once per text", async () => {
  await using trial = await sqliteTrial();
  const store = await trial.open();
  const finished: readonly LogEntry[] = [
    { ...tracedEntry(statusEntry(1)), note: '{"e":1}' },
    tracedEntry(chunkEntry(2, "é", false)),
    { ...tracedEntry(statusEntry(3, "completed")), note: '{"e":1}' },
  ];
  const running = [
    statusEntry(1),
    ...Array.from({ length: 9 }, (_, n) => tracedEntry(chunkEntry(n + 2, `${n}`, n > 0))),
  ];
  expect(
    await outcomes(
      store,
      createOf(
        ENDED,
        {},
        { entries: finished.slice(0, 2), end: { ...endOf(3), entry: finished[2] ?? statusEntry(3) } },
      ),
      createOf(RUNNING, {}, { entries: running.slice(0, 4) }),
      writeOf(RUNNING, { entries: running.slice(4, 5) }),
      writeOf(RUNNING, { entries: running.slice(5) }),
    ),
  ).toEqual(["ok", "ok", "ok", "ok"]);
  await store.close();

  const copy = trial.folder.file("copy.db");
  const [source, target] = [openSqliteSource(trial.file), openSqliteTarget(copy)];
  try {
    expect((await copyRecords(source, target)).log.count).toBe(finished.length + running.length);
  } finally {
    await target.close();
    await source.close();
  }
  for (const text of textsIn(copy)) expect(text.split('"metadata"')).toHaveLength(2);
  const copied = await trial.open({ file: copy });
  expect(await copied.log(ENDED, 0, 1e6)).toEqual(finished);
  expect(await copied.log(RUNNING, 0, 1e6)).toEqual(running);
  expect(await copied.log(RUNNING, 6, 1e6)).toEqual(running.slice(6));
});
