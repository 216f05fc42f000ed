// Runs the tests of the command-line requirements and prints the result of each requirement. With --write, also
// writes the report.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { startVitest } from "vitest/node";
import { compliancePage, declaredEvidence, PAGE } from "../test/cli/compliance/page.ts";
import { REQUIREMENTS } from "../test/cli/compliance/requirements.ts";

const ROOT = dirname(import.meta.dirname);
const { values: options } = parseArgs({ options: { write: { type: "boolean", default: false } } });

const evidence = declaredEvidence();
const files = [...new Set(evidence.map(({ file }) => file))];
const vitest = await startVitest(files, { root: ROOT, watch: false, reporters: [{}] });
const passed = new Set<string>();
for (const module of vitest.state.getTestModules()) {
  for (const test of module.children.allTests("passed")) passed.add(test.name);
}
await vitest.close();

const failed = new Set(evidence.map(({ id, name }) => `${id} ${name}`).filter((test) => !passed.has(test)));
for (const { id, text, notApplicable, shortfall } of REQUIREMENTS) {
  const tests = evidence.filter((test) => test.id === id).map(({ name }) => `${id} ${name}`);
  const isMet = tests.length > 0 && !tests.some((test) => failed.has(test));
  console.log(
    `${notApplicable !== undefined ? "–" : !isMet ? "✗" : shortfall === undefined ? "✓" : "◐"} ${id.padEnd(28)} ${text}`,
  );
}
process.exitCode = failed.size === 0 ? 0 : 1;
if (options.write) {
  writeFileSync(join(ROOT, PAGE), compliancePage(evidence, failed, new Date().toISOString().slice(0, 10)));
  console.log(`\nWritten to ${PAGE}.`);
}
