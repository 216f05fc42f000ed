// Runs the clients of others against this server and prints what they can do with it, operation by operation. With
// --write, the page that tells people of it is written as well.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { startVitest, type TestCase, type TestModule, type TestSuite } from "vitest/node";
import { compatibilityPage, PAGE } from "../test/peers/compatibility-page.ts";
import { type Cell, lackingIn, MARKS, type Matrix } from "../test/peers/matrix.ts";

const ROOT = dirname(import.meta.dirname);
const { values: options } = parseArgs({ options: { write: { type: "boolean", default: false } } });

const CLIENTS = "test/peers/peers.test.ts";
const EXCHANGES = "test/golden/golden.test.ts";
const vitest = await startVitest([CLIENTS, EXCHANGES], { root: ROOT, watch: false, reporters: [{}] });
const modules = vitest.state.getTestModules();
const unhandled = vitest.state.getUnhandledErrors();
await vitest.close();

const matrix = matrixOf(modules);
if (matrix.columns.length === 0 || matrix.golden.length === 0 || unhandled.length > 0) {
  const errors = [...unhandled, ...modules.flatMap((module) => module.errors())];
  console.error("The clients could not be run.", ...errors);
  process.exit(1);
}
console.log(table(matrix));
const failures = failuresIn(matrix);
process.exitCode = failures.length === 0 ? 0 : 1;
if (options.write) {
  writeFileSync(join(ROOT, PAGE), compatibilityPage(matrix));
  console.log(`\nWritten to ${PAGE}.`);
}

function suitesIn(all: readonly TestModule[], file: string): readonly TestSuite[] {
  return all.filter(({ moduleId }) => moduleId === join(ROOT, file)).flatMap((module) => [...module.children.suites()]);
}

/** Suites are clients over bindings, suites in them groups of operations. Exchanges are tests in suites of a suite. */
function matrixOf(all: readonly TestModule[]): Matrix {
  const suites = suitesIn(all, CLIENTS);
  const columns = suites.map(({ name }) => {
    const [client = "", protocol = "", binding = ""] = name.split(" | ");
    return { client, protocol, binding };
  });
  const [first] = suites;
  const groups = first === undefined ? [] : [...first.children.suites()];
  return {
    columns,
    groups: groups.map((group) => ({
      title: group.name,
      rows: [...group.children.tests()].map(({ name }) => ({
        operation: name,
        cells: suites.map((suite) => cellOf(testIn(suite, group.name, name))),
      })),
    })),
    golden: suitesIn(all, EXCHANGES).flatMap((version) =>
      [...version.children.suites()].map((chapter) => ({
        title: chapter.name,
        exchanges: [...chapter.children.tests()].map((test) => ({ name: test.name, cell: cellOf(test) })),
      })),
    ),
  };
}

function testIn(suite: TestSuite, group: string, operation: string): TestCase | undefined {
  for (const child of suite.children.suites()) {
    if (child.name === group) return [...child.children.tests()].find(({ name }) => name === operation);
  }
  return undefined;
}

function cellOf(test: TestCase | undefined): Cell {
  const result = test?.result();
  if (result?.state === "passed") return { outcome: "passed" };
  if (result?.state === "skipped" && result.note !== undefined) return { outcome: "lacking", reason: result.note };
  const message = result?.errors?.[0]?.message ?? "It did not run.";
  return { outcome: "failed", error: message.replaceAll(/\s+/g, " ") };
}

function failuresIn({ columns, groups, golden }: Matrix): readonly string[] {
  const exchanges = golden.flatMap(({ title, exchanges: all }) =>
    all.flatMap(({ name, cell }) => (cell.outcome === "failed" ? [`${title}: ${name}: ${cell.error}`] : [])),
  );
  const operations = groups.flatMap(({ title, rows }) =>
    rows.flatMap(({ operation, cells }) =>
      cells.flatMap((cell, index) =>
        cell.outcome === "failed"
          ? [`${columns[index]?.client}, ${columns[index]?.binding}: ${title}: ${operation}: ${cell.error}`]
          : [],
      ),
    ),
  );
  return [...operations, ...exchanges];
}

function table(shown: Matrix): string {
  const { columns, groups } = shown;
  const widths = columns.map(({ client }) => client.length);
  const width = Math.max(...groups.flatMap(({ rows }) => rows.map(({ operation }) => operation.length + 2)));
  const line = (first: string, cells: readonly string[]) =>
    [first.padEnd(width), ...cells.map((cell, index) => centred(cell, widths[index] ?? 0))].join("   ").trimEnd();
  const lines = [
    line(
      "",
      columns.map(({ client }) => client),
    ),
    line(
      "",
      columns.map(({ binding }) => binding),
    ),
  ];
  for (const { title, rows } of groups) {
    lines.push("", title);
    for (const { operation, cells } of rows) {
      lines.push(
        line(
          `  ${operation}`,
          cells.map(({ outcome }) => MARKS[outcome]),
        ),
      );
    }
  }
  for (const { title, exchanges } of shown.golden) {
    lines.push("", `${title}, word for word`);
    for (const { name, cell } of exchanges) lines.push(`  ${MARKS[cell.outcome]} ${name}`);
  }
  for (const { client, reason, operations } of lackingIn(shown)) {
    lines.push(
      "",
      `– ${client}: ${reason}`,
      ...[...operations].map(([name, over]) => `    ${name} (${over.join(", ")})`),
    );
  }
  const failures = failuresIn(shown);
  if (failures.length > 0) lines.push("", "Failures", ...failures.map((failure) => `  ${failure}`));
  return lines.join("\n");
}

function centred(text: string, width: number): string {
  return text.padStart(Math.floor((width + text.length) / 2)).padEnd(width);
}
