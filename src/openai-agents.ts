export type { ApprovalRequest, FrameworkOptions } from "./adapters/frameworks/framework-options.ts";
export { fromOpenAIAgents, type OpenAIAgentsOptions } from "./adapters/openai-agents/from-openai-agents.ts";
export type {
  OpenAIAgent,
  OpenAIEvent,
  OpenAIItem,
  OpenAIRun,
  OpenAIRunner,
  OpenAIRunOptions,
  OpenAIRunState,
  OpenAIUsage,
} from "./adapters/openai-agents/openai-agent.ts";
