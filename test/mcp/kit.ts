import { execFile } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

/** One check of the conformance kit. */
export interface KitCheck {
  readonly scenario: string;
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly problem: string;
}

const KIT = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const run = promisify(execFile);

/** Runs one scenario of `@modelcontextprotocol/conformance`, as its command does. */
export function runScenario(url: string, scenario: string): Promise<readonly KitCheck[]> {
  return runKit(url, ["--scenario", scenario]);
}

/** Runs all server scenarios of one revision of MCP. */
export function runRevision(url: string, revision: string): Promise<readonly KitCheck[]> {
  return runKit(url, ["--suite", "all", "--spec-version", revision]);
}

/** The folder of a result is named after its scenario and the time. */
const RESULT = /^server-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/;

async function runKit(url: string, choice: readonly string[]): Promise<readonly KitCheck[]> {
  const folder = await mkdtemp(join(tmpdir(), "palaver-mcp-kit-"));
  try {
    const args = [KIT, "server", "--url", url, ...choice, "--timeout", "120000", "-o", folder];
    // Exits with 1 if a check fails: the files tell which.
    const output = await run(process.execPath, args, { timeout: 500_000, maxBuffer: 64 * 1024 * 1024 }).catch(String);
    const results = await readdir(folder);
    if (results.length === 0) throw new Error(`The kit wrote no result: ${JSON.stringify(output).slice(0, 2000)}`);
    return (await Promise.all(results.map((result) => readChecks(folder, result)))).flat();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readChecks(folder: string, result: string): Promise<readonly KitCheck[]> {
  const [, scenario = result] = RESULT.exec(result) ?? [];
  const text = await readFile(join(folder, result, "checks.json"), "utf8");
  const found: readonly { id: string; status: KitCheck["status"]; errorMessage?: string }[] = JSON.parse(text);
  return found.map(({ id, status, errorMessage = "" }) => ({ scenario, id, status, problem: errorMessage }));
}

/** The names of checks as baselines list them. */
export function checkName({ scenario, id }: KitCheck): string {
  return `${scenario}:${id}`;
}

export interface Verdict {
  /** Failed checks that the baseline does not list. */
  readonly failures: readonly KitCheck[];
  /** Entries of the baseline whose checks ran and did not fail. */
  readonly stale: readonly string[];
  readonly passed: number;
}

/** Compares checks with a baseline of checks that are expected to fail, each with its reason. */
export function judge(checks: readonly KitCheck[], baseline: Readonly<Record<string, string>>): Verdict {
  const isFailed = ({ status }: KitCheck): boolean => status === "FAILURE" || status === "WARNING";
  const failed = new Set(checks.filter(isFailed).map(checkName));
  const ran = new Set(checks.filter(({ status }) => status !== "SKIPPED").map(checkName));
  return {
    failures: checks.filter((check) => isFailed(check) && !Object.hasOwn(baseline, checkName(check))),
    stale: Object.keys(baseline).filter((name) => ran.has(name) && !failed.has(name)),
    passed: checks.filter(({ status }) => status === "SUCCESS").length,
  };
}
