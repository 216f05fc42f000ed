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

export interface KitRun {
  readonly url: string;
  /** Names of scenarios. */
  readonly scenarios: readonly string[];
  /** The revision of MCP in which they run. Default: that of the scenario. */
  readonly revision?: string;
  /** How many scenarios run at a time. Default 1. */
  readonly parallel?: number;
}

const KIT = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/conformance/dist/index.js", import.meta.url),
);
const run = promisify(execFile);

/** Runs scenarios of `@modelcontextprotocol/conformance` as its command does, and returns what they found. */
export async function runKit({ url, scenarios, revision, parallel = 1 }: KitRun): Promise<readonly KitCheck[]> {
  const waiting = [...scenarios];
  const checks: KitCheck[] = [];
  const work = async (): Promise<void> => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift())
      checks.push(...(await runScenario(url, scenario, revision)));
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return checks.sort((a, b) => scenarios.indexOf(a.scenario) - scenarios.indexOf(b.scenario));
}

async function runScenario(url: string, scenario: string, revision: string | undefined): Promise<readonly KitCheck[]> {
  const folder = await mkdtemp(join(tmpdir(), "palaver-mcp-kit-"));
  try {
    const version = revision === undefined ? [] : ["--spec-version", revision];
    const args = [KIT, "server", "--url", url, "--scenario", scenario, ...version, "--timeout", "120000", "-o", folder];
    // Exits with 1 if a check fails: the file tells which.
    const output = await run(process.execPath, args, { timeout: 150_000 }).catch((error: unknown) => error);
    const [result] = await readdir(folder);
    if (result === undefined) throw new Error(`The kit wrote no result for ${scenario}: ${String(output)}`);
    const found: readonly { id: string; status: KitCheck["status"]; errorMessage?: string }[] = JSON.parse(
      await readFile(join(folder, result, "checks.json"), "utf8"),
    );
    return found.map(({ id, status, errorMessage = "" }) => ({ scenario, id, status, problem: errorMessage }));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
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
