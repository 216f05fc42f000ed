import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["*.test.ts"],
    pool: "forks",
    // A server that loads LangChain needs many seconds to start on a busy machine.
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});
