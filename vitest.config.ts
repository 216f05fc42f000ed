import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts"],
    // Processes, not threads: tests open databases, start workers and send signals.
    pool: "forks",
    // Many of them wait more than they work.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Where the processor has protection keys, V8 sometimes aborts with "Check failed: jit_page.has_value()" when many threads
    // come and go, as the writers of test databases do.
    execArgv: ["--no-memory-protection-keys"],
    retry: 0,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ["default", "./scripts/closing-line-reporter.ts"],
  },
});

export default config;
