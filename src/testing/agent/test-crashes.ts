import type { Agent } from "../../engine/agent/agent.ts";
import type { AgentTest, TestAgentOptions } from "./agent-test.ts";
import { RunningTest } from "./running-test.ts";
import type { TestedTask } from "./tested-task.ts";

/** What a run of `testCrashes` has done. */
export interface CrashReport {
  /** How many times the scenario ran with a crash: once for each commit. */
  readonly crashes: number;
}

/**
 * Runs a scenario once without a crash, then once for each moment at which something was stored, with a crash at that moment. Rejects with an `Error` that names the moment if
 * the scenario fails, or if a task ends in another state or with other artifacts than without a crash.
 *
 * `agents` may be a function that makes them, for agents with a state of their own outside the task.
 */
export async function testCrashes(
  agents: Agent | readonly Agent[] | (() => Agent | readonly Agent[]),
  scenario: (test: AgentTest) => Promise<unknown>,
  options: TestAgentOptions = {},
): Promise<CrashReport> {
  const made = (): Agent | readonly Agent[] => (typeof agents === "function" ? agents() : agents);
  const whole = await runOnce(new RunningTest(made(), options), scenario);
  for (let commit = 1; commit <= whole.commits; commit++) {
    const moment = `After a crash at commit ${commit} of ${whole.commits}`;
    const test = new RunningTest(made(), options, { afterCommits: commit });
    const { outcomes } = await runOnce(test, scenario).catch((cause: unknown) => {
      throw new Error(`${moment}, the scenario failed: ${cause instanceof Error ? cause.message : String(cause)}`, {
        cause,
      });
    });
    for (const [index, expected] of whole.outcomes.entries()) {
      if (outcomes[index] !== expected)
        throw new Error(
          `${moment}, task ${index + 1} differs.\nWithout a crash: ${expected}\nWith the crash: ${outcomes[index] ?? "no task"}`,
        );
    }
  }
  return { crashes: whole.commits };
}

async function runOnce(
  test: RunningTest,
  scenario: (test: AgentTest) => Promise<unknown>,
): Promise<{ readonly commits: number; readonly outcomes: readonly string[] }> {
  try {
    await test.begin();
    await scenario(test);
    return { commits: test.commits, outcomes: (await test.tasks()).map(outcomeOf) };
  } finally {
    await test.close();
  }
}

/** What a caller has at the end: the state, and the content of the artifacts, however it was divided into chunks. */
function outcomeOf({ state, artifacts }: TestedTask): string {
  const contents = artifacts.map(({ name, parts }) => {
    const joined: (string | object)[] = [];
    for (const part of parts) {
      const last = joined.at(-1);
      const isText = part.text !== undefined && part.filename === undefined;
      if (isText && typeof last === "string") joined.splice(-1, 1, last + part.text);
      else joined.push(isText ? part.text : part);
    }
    return { ...(name !== undefined && { name }), parts: joined };
  });
  return `${state} ${JSON.stringify(contents)}`;
}
