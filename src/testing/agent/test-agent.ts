import type { Agent } from "../../engine/agent/agent.ts";
import type { AgentTest, TestAgentOptions } from "./agent-test.ts";
import { RunningTest } from "./running-test.ts";

/** Starts agents for a test, without a network. Throws a `TypeError` if two of them have the same id. */
export async function testAgent(agents: Agent | readonly Agent[], options: TestAgentOptions = {}): Promise<AgentTest> {
  const test = new RunningTest(agents, options);
  await test.begin();
  return test;
}
