import { rejects } from "node:assert";
import { it } from "vitest";
import { AWAITED } from "./awaited.ts";
import type { Expectation } from "./peer.ts";

/**
 * Declares the test of one cell of the table. `cell` has the format of `AWAITED`. A scenario that "cannot work" must
 * fail; if it passes, its reason is out of date.
 */
export function declareCell(cell: string, expected: Expectation, run: () => Promise<void>): void {
  const scenario = cell.slice(cell.indexOf(": ") + 2);
  const title = expected === "works" ? scenario : `${scenario}: cannot work, because ${expected.cannot}`;
  const test = AWAITED.has(cell) ? it.fails : it;
  test(title, () => (expected === "works" ? run() : rejects(run)));
}
