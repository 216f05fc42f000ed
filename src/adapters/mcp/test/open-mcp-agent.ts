import type { Agent } from "../../../engine/agent/agent.ts";
import type { JsonObject } from "../../../protocol/json.ts";
import type { Task } from "../../../protocol/task.ts";
import { EngineHarness, type HarnessOptions } from "../../../testing/engine-harness.ts";
import { mcpAgent } from "../mcp-agent.ts";
import type { McpAgentOptions } from "../mcp-agent-options.ts";

/** An engine with one MCP agent. */
export interface OpenMcpAgent extends AsyncDisposable {
  readonly harness: EngineHarness;
  readonly agent: Agent;
  /** Sends the arguments of a skill. */
  call(skillId: string, data?: JsonObject): Promise<Task>;
}

export async function openMcpAgent(
  options: McpAgentOptions,
  more: Partial<HarnessOptions> = {},
): Promise<OpenMcpAgent> {
  const agent = await mcpAgent(options);
  const harness = await EngineHarness.open({ agents: agent, ...more });
  return {
    harness,
    agent,
    call: (skillId, data = {}) => harness.send({ parts: [{ data }], metadata: { skillId } }),
    async [Symbol.asyncDispose]() {
      await harness[Symbol.asyncDispose]();
      await agent.close?.();
    },
  };
}

export function statusText({ status }: Task): string {
  return status.message?.parts.map(({ text = "" }) => text).join("") ?? "";
}

export function failureCode({ status }: Task): unknown {
  const data = status.message?.parts.find((part) => part.data !== undefined)?.data;
  return typeof data === "object" && data !== null && "code" in data ? data["code"] : undefined;
}

export function resultParts({ artifacts = [] }: Task): unknown {
  return artifacts.find(({ name }) => name === "result")?.parts;
}
