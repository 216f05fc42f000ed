import { spawnSync } from "node:child_process";
import { join } from "node:path";

/** Runs the tests with slow proofs in full. Arguments are those of Vitest. */
const vitest = join(import.meta.dirname, "../node_modules/vitest/vitest.mjs");
const { status } = spawnSync(process.execPath, [vitest, "run", ...process.argv.slice(2)], {
  env: { ...process.env, PALAVER_FULL_TESTS: "1" },
  stdio: "inherit",
});
process.exitCode = status ?? 1;
