/**
 * Cells that do not work yet, as `PEER client: SCENARIO` or `PEER server: SCENARIO`: their tests are expected to fail.
 * The change that makes a cell work removes its line.
 */
export const AWAITED: ReadonlySet<string> = new Set<string>();
