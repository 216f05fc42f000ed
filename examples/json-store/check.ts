import { storeContract } from "palaver/testing";
import { createJsonStore } from "./json-store.ts";

// Runs the contract suite without a test runner, and prints each case that fails.
let failed = 0;
for (const { name, run } of storeContract) {
  try {
    await run(async (setup) => createJsonStore(setup));
  } catch (error) {
    failed += 1;
    console.error(`✗ ${name}\n`, error);
  }
}
console.log(`${storeContract.length - failed} of ${storeContract.length} cases passed`);
if (failed > 0) process.exitCode = 1;
