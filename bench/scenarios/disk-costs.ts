import { closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { milliseconds, spread } from "../format.ts";
import type { Bench, Outcome, Row, Scenario } from "../scenario.ts";
import { percentile, summarize } from "../statistics.ts";

/** The cost of one synchronised write on this machine's disk: the lower bound of everything durable. */
export const diskCosts: Scenario = { name: "disk", title: "The disk", limitSeconds: [60, 30], run };

const TIMES = 200;

function run(bench: Bench): Promise<Outcome> {
  const fsync = fsyncCosts(join(bench.folder(), "append"));
  const commit = commitCosts(join(bench.folder(), "commit.db"));
  return Promise.resolve({
    rows: [costRow("append 4 KB + fsync", fsync), costRow("SQLite WAL commit of one row (synchronous full)", commit)],
    notes: [`Each ${TIMES} times; the median, and the range of the middle 90 %.`],
    data: { fsync, commit },
  });
}

/** Milliseconds per write. */
function fsyncCosts(path: string): number[] {
  const block = Buffer.alloc(4096, 1);
  const file = openSync(path, "a");
  try {
    return repeat(() => {
      writeSync(file, block);
      fsyncSync(file);
    });
  } finally {
    closeSync(file);
  }
}

function commitCosts(path: string): number[] {
  const database = new DatabaseSync(path);
  try {
    database.exec(
      "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE entry (id INTEGER PRIMARY KEY, body TEXT)",
    );
    const insert = database.prepare("INSERT INTO entry (body) VALUES (?)");
    const body = "x".repeat(300);
    return repeat(() => insert.run(body));
  } finally {
    database.close();
  }
}

function repeat(work: () => void): number[] {
  return Array.from({ length: TIMES }, () => {
    const start = performance.now();
    work();
    return performance.now() - start;
  });
}

function costRow(work: string, costs: readonly number[]): Row {
  const summary = { ...summarize(costs), min: percentile(costs, 0.05), max: percentile(costs, 0.95) };
  return { work, figure: milliseconds(summary.median), ...spread(summary, milliseconds) };
}
