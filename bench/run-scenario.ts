import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { busyShare } from "./machine.ts";
import type { RunOptions } from "./options.ts";
import type { Result } from "./report.ts";
import type { Scenario } from "./scenario.ts";
import { type ServerProcess, startServer } from "./server-process.ts";

/** Runs one scenario within its time limit and cleans up after it. Never rejects: a failure is a result. */
export async function runScenario(scenario: Scenario, options: RunOptions, workFolder: string): Promise<Result> {
  const limit = scenario.limitSeconds[options.quick ? 1 : 0];
  const stop = new AbortController();
  const folders: string[] = [];
  const servers: ServerProcess[] = [];
  const busy = await busyShare();
  const began = performance.now();
  const result = (outcome: Result["outcome"]): Result => ({
    scenario,
    outcome,
    seconds: (performance.now() - began) / 1000,
  });
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    const error = new Error(`Stopped after the time limit of ${limit} s.`);
    stop.abort(error);
    late.reject(error);
  }, limit * 1000);
  try {
    const work = scenario.run({
      quick: options.quick,
      runs: options.runs,
      signal: stop.signal,
      folder() {
        const folder = mkdtempSync(join(workFolder, `${scenario.name}-`));
        folders.push(folder);
        return folder;
      },
      async start(spec) {
        stop.signal.throwIfAborted();
        const server = await startServer(spec, { profile: options.profile });
        servers.push(server);
        return server;
      },
      progress: (text) => process.stderr.write(`  [${scenario.name}] ${text}\n`),
    });
    const outcome = await Promise.race([work, late.promise]);
    return result({ ...outcome, notes: [...outcome.notes, ...busyNote(busy)] });
  } catch (error) {
    return result({ failure: error instanceof Error ? error.message : String(error) });
  } finally {
    clearTimeout(timer);
    stop.abort(new Error("The scenario has ended."));
    await Promise.all(servers.map((server) => server.stop()));
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
  }
}

const QUIET_SHARE = 0.1;

function busyNote(share: number): string[] {
  if (share <= QUIET_SHARE) return [];
  return [
    `Other programs used ${Math.round(share * 100)} % of the machine at the start, so the figures are worse than without them.`,
  ];
}
