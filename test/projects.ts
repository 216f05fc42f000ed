/** All test files. */
export const TEST_FILES: readonly string[] = [
  "src/**/*.test.ts",
  "test/**/*.test.ts",
  "bench/**/*.test.ts",
  "chaos/**/*.test.ts",
  "console/**/*.test.ts",
];

/** Test files that get a process each. All others share a few processes, one file at a time, and must leave nothing behind. */
export const OWN_PROCESS: readonly string[] = [
  // They measure the memory, the processor time or the open timers of their process.
  "{src,test}/**/memory.test.ts",
  "src/adapters/mcp/hostile-servers.test.ts",
  "src/adapters/process/hostile-programs.test.ts",
  "src/client/discovery/card-places.test.ts",
  "src/internal/clock.test.ts",
  "src/transport/body/json-body.test.ts",
  "src/transport/fetch-handler.test.ts",
  "src/wire/card/client-cards.test.ts",
  "src/wire/fields/base64.test.ts",
  "test/e2e/large-answers.test.ts",
  "test/grpc/hostile-frames.test.ts",
  "test/security/push-attacks.test.ts",
  // They replace the process's listeners for unhandled rejections.
  "src/internal/deferred.test.ts",
  // They start many threads, which can end the process (see vitest.config.ts).
  "src/platform/security/signing-keys.test.ts",
  "src/store/sqlite/**/*.test.ts",
  "src/testing/*.test.ts",
  "test/integration/engine-model.test.ts",
  // It replaces a module.
  "src/internal/postgres/driver.test.ts",
  // They start database servers and nodes, and stop them in all ways.
  "test/postgres/connection-failures.test.ts",
  "test/postgres/rolling.test.ts",
  "chaos/nodes/*.test.ts",
];

/** Test files that share one PostgreSQL server. Each has a database of its own: `test/fixtures/own-database.ts`. */
export const ON_POSTGRES: readonly string[] = ["test/postgres/*.test.ts"];

/** Test files that run a second time: on three nodes with one PostgreSQL, behind a proxy that sends each request to the next node. */
export function filesOnNodes(isFull: boolean): readonly string[] {
  const sample = ["test/peers/peers.test.ts", "test/security/access.test.ts"];
  if (!isFull) return sample;
  return [
    ...sample,
    "test/cross-version/*.test.ts",
    "test/conformance/*.test.ts",
    "test/golden/golden*.test.ts",
    "test/peers/assumed-version.test.ts",
    "test/foreign-peers/clients.test.ts",
  ];
}
