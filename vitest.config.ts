import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig, type ViteUserConfig } from "vitest/config";
import LongestFirstSequencer from "./scripts/longest-first-sequencer.ts";
import { IS_FULL } from "./test/fixtures/budget.ts";
import { whyNoPostgres } from "./test/fixtures/postgres-server.ts";
import { filesOnNodes, ON_POSTGRES, OWN_PROCESS, TEST_FILES } from "./test/projects.ts";

// The tests start hundreds of threads and processes. With this cache each takes about a third of the processor time, because Node
// removes the types of a source file once and not in each of them.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/node-compile", import.meta.url));

const hasPostgres = (await whyNoPostgres()) === undefined;

const config: ViteUserConfig = defineConfig({
  test: {
    // Processes, not threads: tests open databases, start workers and send signals.
    pool: "forks",
    // Many of them wait more than they work.
    maxWorkers: Math.max(4, availableParallelism()),
    // With a sequencer of our own, Vitest would ignore the option that shuffles files.
    sequence: process.argv.some((arg) => arg.startsWith("--sequence.shuffle"))
      ? {}
      : { sequencer: LongestFirstSequencer },
    // Faults of V8 in Node 24 that end a test process now and then, each time another one. It aborts with "Check failed:
    // jit_page.has_value()" when many threads come and go: with protection keys, and when the WebAssembly that removes types is
    // called so often that V8 optimizes how it calls JavaScript. Its baseline compiler can crash the collector (nodejs/node#62393).
    execArgv: ["--no-memory-protection-keys", "--wasm-wrapper-tiering-budget=1000000000", "--no-sparkplug"],
    retry: 0,
    // A test that hangs ends here. No test comes near it, also on a machine that is busy with other work.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    reporters: ["default", "./scripts/closing-line-reporter.ts"],
    // A file without a process of its own needs half the processor time or less: the sources are loaded once for all of them.
    projects: [
      { extends: true, test: { name: "own-process", include: [...OWN_PROCESS] } },
      {
        extends: true,
        test: {
          name: "shared-process",
          isolate: false,
          setupFiles: "test/fixtures/own-card-cache.ts",
          include: [...TEST_FILES],
          exclude: [...configDefaults.exclude, ...OWN_PROCESS, ...ON_POSTGRES],
        },
      },
      {
        extends: true,
        test: {
          name: "postgres",
          isolate: false,
          setupFiles: "test/fixtures/own-card-cache.ts",
          include: [...ON_POSTGRES],
          exclude: [...configDefaults.exclude, ...OWN_PROCESS],
          globalSetup: "test/fixtures/shared-postgres.ts",
        },
      },
      {
        extends: true,
        test: {
          name: "three-nodes",
          isolate: false,
          setupFiles: "test/fixtures/own-card-cache.ts",
          include: hasPostgres ? [...filesOnNodes(IS_FULL)] : [],
          globalSetup: "test/fixtures/shared-postgres.ts",
          provide: { nodes: 3 },
        },
      },
    ],
  },
});

export default config;
