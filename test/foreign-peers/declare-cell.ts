import { rejects } from "node:assert";
import { it } from "vitest";
import { AWAITED } from "./awaited.ts";
import type { Expectation } from "./peer.ts";

/** The test of one cell of the table. `cell` is as in `AWAITED`. What cannot work must not: else the reason is out of date. */
export function declareCell(cell: string, expected: Expectation, run: () => Promise<void>): void {
  const scenario = cell.slice(cell.indexOf(": ") + 2);
  const title = expected === "works" ? scenario : `${scenario}: cannot work, because ${expected.cannot}`;
  const test = AWAITED.has(cell) ? it.fails : it;
  test(title, () => (expected === "works" ? run() : rejects(run)));
}
