import { availableParallelism } from "node:os";
import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts", "chaos/**/*.test.ts"],
    // Processes, not threads: tests open databases, start workers and send signals.
    pool: "forks",
    // Many of them wait more than they work.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    // Two faults of V8 in Node 24 that end a test process now and then, each time another one: with protection keys it aborts
    // with "Check failed: jit_page.has_value()" when many threads come and go, and its baseline compiler can crash the collector
    // (nodejs/node#62393).
    execArgv: ["--no-memory-protection-keys", "--no-sparkplug"],
    retry: 0,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ["default", "./scripts/closing-line-reporter.ts"],
  },
});

export default config;
