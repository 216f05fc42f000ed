// Runs the conformance kit of the Model Context Protocol against this server: `npm run mcp-conformance`. Exits with 1 if a check fails that the baseline
// (test/mcp/baseline.ts) does not list, or if an entry of the baseline is out of date.
import { parseArgs } from "node:util";
import { SILENT_LOGGER } from "../src/internal/logger.ts";
import { createServer } from "../src/platform/create-server.ts";
import { BASELINE } from "../test/mcp/baseline.ts";
import { checkName, judge, type KitCheck, runRevision, runScenario } from "../test/mcp/kit.ts";
import { KIT_AGENTS, KIT_OPTIONS } from "../test/mcp/kit-agents.ts";
import { startRestartingServer } from "../test/mcp/restarting-server.ts";
import { TASK_SCENARIOS } from "../test/mcp/scenarios.ts";

const HELP = `Usage: npm run mcp-conformance -- [options]

Runs every server scenario of @modelcontextprotocol/conformance against agents that are served at /mcp: of the revisions 2026-07-28 and 2025-11-25, and of
the tasks extension; the latter once more with a server that is killed (kill -9) before polls of tasks.

  --only NAME   only this scenario
  --no-kills    leave out the run with kills
  --only-kills  nothing but the run with kills
  --help        print this help
`;

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    kills: { type: "boolean", default: true },
    "only-kills": { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
  allowNegative: true,
});

/** Prints what was found. Returns whether all is as expected. */
function isExpected(title: string, checks: readonly KitCheck[], baseline: Readonly<Record<string, string>>): boolean {
  const { failures, stale, passed } = judge(checks, baseline);
  const listed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING").length - failures.length;
  console.log(`${title}: ${passed} checks passed, ${listed} failed as the baseline says, ${failures.length} failed`);
  for (const check of failures) console.log(`  FAILED ${checkName(check)}: ${check.problem.split("\n", 1)[0]}`);
  for (const name of stale) console.log(`  OUT OF DATE in the baseline: ${name}`);
  return failures.length === 0 && stale.length === 0;
}

async function runTasks(title: string, url: string, before?: () => Promise<void>): Promise<boolean> {
  const checks: KitCheck[] = [];
  for (const scenario of TASK_SCENARIOS) {
    await before?.();
    checks.push(...(await runScenario(url, scenario)));
  }
  return isExpected(title, checks, {});
}

async function withServer<T>(work: (url: string) => Promise<T>): Promise<T> {
  const server = createServer(KIT_AGENTS, { ...KIT_OPTIONS, store: "memory:", port: 0, logger: SILENT_LOGGER });
  try {
    const { url } = await server.listen();
    return await work(`${url}/mcp`);
  } finally {
    await server.close();
  }
}

async function main(): Promise<boolean> {
  const { only } = values;
  if (only !== undefined)
    return withServer(async (url) => isExpected(only, await runScenario(url, only), { ...BASELINE["2026-07-28"] }));
  const results: boolean[] = values["only-kills"]
    ? []
    : await withServer(async (url) => {
        const tasks = await runTasks("Tasks", url);
        const revisions: boolean[] = [];
        for (const revision of ["2026-07-28", "2025-11-25"] as const)
          revisions.push(isExpected(revision, await runRevision(url, revision), BASELINE[revision]));
        return [tasks, ...revisions];
      });
  if (values.kills) {
    const killed = await startRestartingServer();
    try {
      results.push(await runTasks("Tasks, with kills", `${killed.url}/mcp`, () => killed.ready()));
      console.log(`  The server was killed ${killed.kills} times.`);
      for (const problem of killed.problems) console.log(`  NOT FORWARDED ${problem}`);
    } finally {
      await killed.close();
    }
  }
  return results.every(Boolean);
}

if (values.help) process.stdout.write(HELP);
else process.exitCode = (await main()) ? 0 : 1;
