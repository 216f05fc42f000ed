import { writeSync } from "node:fs";
import type { Reporter, TestModule } from "vitest/node";

/**
 * Ends the output of a test run with a machine-readable line, `N passed, N failed`. A test file that could not be
 * loaded, and an error outside any test, count as one failure each.
 */
export default class ClosingLineReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly unknown[]): void {
    let passed = 0;
    let failed = unhandledErrors.length;
    for (const module of modules) {
      let failedTests = 0;
      for (const test of module.children.allTests()) {
        const { state } = test.result();
        if (state === "passed") passed++;
        else if (state === "failed") failedTests++;
      }
      failed += failedTests === 0 && module.state() === "failed" ? 1 : failedTests;
    }
    // At exit, so that this line is the last one.
    process.once("exit", () => writeSync(1, `${passed} passed, ${failed} failed\n`));
  }
}
