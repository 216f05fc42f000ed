import { defineConfig, type ViteUserConfig } from "vitest/config";

const config: ViteUserConfig = defineConfig({
  test: {
    include: ["src/**/*.test.ts", "test/**/*.test.ts", "bench/**/*.test.ts"],
    // Processes, not threads: tests open databases, start workers and send signals.
    pool: "forks",
    retry: 0,
    testTimeout: 30_000,
    hookTimeout: 30_000,
    reporters: ["default", "./scripts/closing-line-reporter.ts"],
  },
});

export default config;
