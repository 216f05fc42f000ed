import { type Agent, agent } from "../../engine/agent/agent.ts";
import { conversationOf } from "../frameworks/conversation.ts";
import { type FrameworkOptions, splitOptions } from "../frameworks/framework-options.ts";
import { runFramework } from "../frameworks/run-framework.ts";
import { inputItems } from "./input-items.ts";
import { loadOpenAIAgents, type OpenAIAgentsModule } from "./load-openai-agents.ts";
import type { OpenAIAgent, OpenAIRunner } from "./openai-agent.ts";
import { runOpenAIAgent } from "./run-openai-agent.ts";

/** Declares an agent that an agent of the OpenAI Agents SDK runs. */
export interface OpenAIAgentsOptions extends FrameworkOptions {
  /** A `Runner` of the SDK, with its model provider and tracing. Default: the SDK's own. */
  readonly runner?: OpenAIRunner;
  /** Model calls of one turn. After them the task fails with `too-many-model-calls`. Default 10, as in the SDK. */
  readonly maxTurns?: number;
}

const DEFAULT_TURNS = 10;

/**
 * Declares an agent that an agent of the OpenAI Agents SDK runs. Each turn of the SDK (a model call and its tools) is stored as a serialized
 * `RunState`: after a crash, stored turns are not done again. Tools with `needsApproval` become questions, which may be answered days later. Throws a
 * `TypeError` for an invalid declaration.
 */
export function fromOpenAIAgents(openAIAgent: OpenAIAgent, options: OpenAIAgentsOptions): Agent {
  return openAIAgentsAgent(openAIAgent, options, loadOpenAIAgents);
}

/** As `fromOpenAIAgents`, with the SDK as a parameter. */
export function openAIAgentsAgent(
  openAIAgent: OpenAIAgent,
  options: OpenAIAgentsOptions,
  load: () => Promise<OpenAIAgentsModule>,
): Agent {
  if (typeof openAIAgent?.name !== "string")
    throw new TypeError("fromOpenAIAgents(): the first argument must be an agent of the OpenAI Agents SDK.");
  const { runner, maxTurns = DEFAULT_TURNS, ...rest } = options;
  const { adapter, definition } = splitOptions(rest);
  return agent({
    ...definition,
    run: async (task) => {
      const module = await load();
      const input = inputItems(await conversationOf(task, adapter));
      const setup = { agent: openAIAgent, runner: runner ?? module, module, input, maxTurns };
      await runFramework(task, { run: (run) => runOpenAIAgent(setup, run) }, adapter);
    },
  });
}
