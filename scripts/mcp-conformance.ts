// Runs the conformance kit of the Model Context Protocol against this server: `npm run mcp-conformance`. Exits with 1 if a check fails that the baseline
// (test/mcp/baseline.ts) does not list, or if an entry of the baseline is out of date.
import { parseArgs } from "node:util";
import { createServer } from "../src/platform/create-server.ts";
import { BASELINE } from "../test/mcp/baseline.ts";
import { checkName, judge, type KitCheck, runKit } from "../test/mcp/kit.ts";
import { KIT_AGENTS, KIT_OPTIONS } from "../test/mcp/kit-agents.ts";
import { startRestartingServer } from "../test/mcp/restarting-server.ts";
import { LEGACY_SCENARIOS, MODERN_SCENARIOS, TASK_SCENARIOS } from "../test/mcp/scenarios.ts";

const HELP = `Usage: npm run mcp-conformance -- [options]

Runs every server scenario of @modelcontextprotocol/conformance against agents that are served at /mcp: of the revisions 2026-07-28 and 2025-11-25, and of
the tasks extension; the latter once more with a server that is killed (kill -9) before every poll of a task.

  --only TEXT   only scenarios whose name contains this text
  --no-kills    leave out the run with kills
  --help        print this help
`;

const { values } = parseArgs({
  options: {
    only: { type: "string", default: "" },
    kills: { type: "boolean", default: true },
    help: { type: "boolean" },
  },
  allowNegative: true,
});

interface Suite {
  readonly title: string;
  readonly scenarios: readonly string[];
  readonly revision?: keyof typeof BASELINE;
  readonly url: string;
}

/** Prints what a suite found. Returns whether all is as expected. */
async function run({ title, scenarios, revision, url }: Suite): Promise<boolean> {
  const chosen = scenarios.filter((name) => name.includes(values.only));
  if (chosen.length === 0) return true;
  const checks = await runKit({ url, scenarios: chosen, ...(revision !== undefined && { revision }) });
  const { failures, stale, passed } = judge(checks, BASELINE[revision ?? "2026-07-28"]);
  const listed = checks.filter(({ status }) => status === "FAILURE" || status === "WARNING").length - failures.length;
  console.log(`${title}: ${chosen.length} scenarios, ${passed} checks passed, ${listed} failed as the baseline says`);
  for (const check of failures) console.log(`  FAILED ${checkName(check)}: ${firstLine(check)}`);
  for (const name of stale) console.log(`  OUT OF DATE in the baseline: ${name}`);
  return failures.length === 0 && stale.length === 0;
}

function firstLine({ problem }: KitCheck): string {
  return problem.split("\n", 1)[0] ?? "";
}

async function main(): Promise<boolean> {
  const results: boolean[] = [];
  const server = createServer(KIT_AGENTS, { ...KIT_OPTIONS, store: "memory:", port: 0 });
  const { url } = await server.listen();
  try {
    results.push(await run({ title: "Tasks", scenarios: TASK_SCENARIOS, url: `${url}/mcp` }));
    results.push(
      await run({ title: "2026-07-28", scenarios: MODERN_SCENARIOS, revision: "2026-07-28", url: `${url}/mcp` }),
    );
    results.push(
      await run({ title: "2025-11-25", scenarios: LEGACY_SCENARIOS, revision: "2025-11-25", url: `${url}/mcp` }),
    );
  } finally {
    await server.close();
  }
  if (!values.kills) return results.every(Boolean);
  const killed = await startRestartingServer({ killBefore: (method) => method === "tasks/get" });
  try {
    results.push(await run({ title: "Tasks, with kills", scenarios: TASK_SCENARIOS, url: `${killed.url}/mcp` }));
    console.log(`  The server was killed ${killed.kills} times.`);
  } finally {
    await killed.close();
  }
  return results.every(Boolean);
}

if (values.help === true) process.stdout.write(HELP);
else process.exitCode = (await main()) ? 0 : 1;
