// Runs other projects' clients against this server, and this client against other projects' servers, and prints the
// result of each operation. With --write, also writes docs/compatibility.md.
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { startVitest, type TestCase, type TestModule, type TestSuite } from "vitest/node";
import { compatibilityPage, PAGE } from "../test/peers/compatibility-page.ts";
import { type Cell, lackingIn, MARKS, type Matrix, type Table } from "../test/peers/matrix.ts";

const ROOT = dirname(import.meta.dirname);
const { values: options } = parseArgs({ options: { write: { type: "boolean", default: false } } });

const CLIENTS = "test/peers/peers.test.ts";
const SERVERS = "test/remote-peers/remote-peers.test.ts";
const EXCHANGES = "test/golden/golden.test.ts";
// Some of these files also run on three nodes, in a project of their own.
const project = ["shared-process"];
const vitest = await startVitest([CLIENTS, SERVERS, EXCHANGES], { root: ROOT, watch: false, project, reporters: [{}] });
const modules = vitest.state.getTestModules();
const unhandled = vitest.state.getUnhandledErrors();
await vitest.close();

const matrix = matrixOf(modules);
const isEmpty = [matrix.clients.columns, matrix.servers.columns, matrix.golden].some(({ length }) => length === 0);
if (isEmpty || unhandled.length > 0) {
  const errors = [...unhandled, ...modules.flatMap((module) => module.errors())];
  console.error("The clients and servers could not be run.", ...errors);
  process.exit(1);
}
console.log(shown(matrix));
const failures = failuresIn(matrix);
process.exitCode = failures.length === 0 ? 0 : 1;
if (options.write) {
  writeFileSync(join(ROOT, PAGE), compatibilityPage(matrix));
  console.log(`\nWritten to ${PAGE}.`);
}

function suitesIn(all: readonly TestModule[], file: string): readonly TestSuite[] {
  return all.filter(({ moduleId }) => moduleId === join(ROOT, file)).flatMap((module) => [...module.children.suites()]);
}

/** A suite is a peer over a binding; its child suites are groups of operations. Exchanges are tests in child suites. */
function matrixOf(all: readonly TestModule[]): Matrix {
  return {
    clients: tableOf(suitesIn(all, CLIENTS)),
    servers: tableOf(suitesIn(all, SERVERS)),
    golden: suitesIn(all, EXCHANGES).flatMap((version) =>
      [...version.children.suites()].map((chapter) => ({
        title: chapter.name,
        exchanges: [...chapter.children.tests()].map((test) => ({ name: test.name, cell: cellOf(test) })),
      })),
    ),
  };
}

function tableOf(suites: readonly TestSuite[]): Table {
  const [first] = suites;
  const groups = first === undefined ? [] : [...first.children.suites()];
  return {
    columns: suites.map(({ name }) => {
      const [peer = "", protocol = "", binding = ""] = name.split(" | ");
      return { peer, protocol, binding };
    }),
    groups: groups.map((group) => ({
      title: group.name,
      rows: [...group.children.tests()].map(({ name }) => ({
        operation: name,
        cells: suites.map((suite) => cellOf(testIn(suite, group.name, name))),
      })),
    })),
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
  const message = result?.errors?.[0]?.message ?? "The test did not run.";
  return { outcome: "failed", error: message.replaceAll(/\s+/g, " ") };
}

function failuresIn({ clients, servers, golden }: Matrix): readonly string[] {
  const exchanges = golden.flatMap(({ title, exchanges: all }) =>
    all.flatMap(({ name, cell }) => (cell.outcome === "failed" ? [`${title}: ${name}: ${cell.error}`] : [])),
  );
  const operations = [clients, servers].flatMap(({ columns, groups }) =>
    groups.flatMap(({ title, rows }) =>
      rows.flatMap(({ operation, cells }) =>
        cells.flatMap((cell, index) =>
          cell.outcome === "failed"
            ? [`${columns[index]?.peer}, ${columns[index]?.binding}: ${title}: ${operation}: ${cell.error}`]
            : [],
        ),
      ),
    ),
  );
  return [...operations, ...exchanges];
}

function shown({ clients, servers, golden }: Matrix): string {
  const lines = ["Clients of others against this server", ...tableLines(clients)];
  for (const { title, exchanges } of golden) {
    lines.push("", `${title}, exact requests and responses`);
    for (const { name, cell } of exchanges) lines.push(`  ${MARKS[cell.outcome]} ${name}`);
  }
  lines.push("", "This client against servers of others", ...tableLines(servers));
  const failed = failuresIn({ clients, servers, golden });
  if (failed.length > 0) lines.push("", "Failures", ...failed.map((failure) => `  ${failure}`));
  return lines.join("\n");
}

function tableLines(table: Table): readonly string[] {
  const { columns, groups } = table;
  const widths = columns.map(({ peer }) => peer.length);
  const width = Math.max(...groups.flatMap(({ rows }) => rows.map(({ operation }) => operation.length + 2)));
  const line = (first: string, cells: readonly string[]) =>
    [first.padEnd(width), ...cells.map((cell, index) => centred(cell, widths[index] ?? 0))].join("   ").trimEnd();
  const peers = columns.map(({ peer }) => peer);
  const bindings = columns.map(({ binding }) => binding);
  const lines = ["", line("", peers), line("", bindings)];
  for (const { title, rows } of groups) {
    lines.push("", title);
    for (const { operation, cells } of rows) {
      const marks = cells.map(({ outcome }) => MARKS[outcome]);
      lines.push(line(`  ${operation}`, marks));
    }
  }
  for (const { peer, reason, operations } of lackingIn(table)) {
    const lacking = [...operations].map(([name, over]) => `    ${name} (${over.join(", ")})`);
    lines.push("", `– ${peer}: ${reason}`, ...lacking);
  }
  return lines;
}

function centred(text: string, width: number): string {
  return text.padStart(Math.floor((width + text.length) / 2)).padEnd(width);
}
