export type { McpServerAddress } from "./adapters/mcp/mcp-server-address.ts";
export { type AgentTool, agentTools } from "./adapters/models/agent-tools.ts";
export type { ModelReply } from "./adapters/models/call-model.ts";
export { type McpTool, type McpToolsOptions, mcpTools } from "./adapters/models/mcp-tools.ts";
export { type ModelAgentOptions, modelAgent } from "./adapters/models/model-agent.ts";
export { type Environment, modelByName } from "./adapters/models/model-by-name.ts";
export type {
  AssistantContent,
  FileContent,
  Model,
  ModelCall,
  ModelFileData,
  ModelMessage,
  ModelStreamPart,
  ModelTool,
  ProviderOptions,
  ReasoningContent,
  TextContent,
  ToolCallContent,
  ToolContent,
  UserContent,
} from "./adapters/models/model-contract.ts";
export type { EndedTurn, ModelHooks } from "./adapters/models/model-loop.ts";
export type { Price, TokenPrices } from "./adapters/models/price.ts";
export type { HistoryOptions } from "./adapters/models/prompt.ts";
export type { ReadReply, ReasoningBlock, RequestedCall } from "./adapters/models/read-reply.ts";
export type { KeyedCall, ToolOutcome } from "./adapters/models/run-tool.ts";
export {
  type ScriptedAnswer,
  type ScriptedModelOptions,
  scriptedModel,
  textOfMessage,
} from "./adapters/models/scripted-model.ts";
export { type Tool, type ToolProvider, type ToolRun, type Tools, tool } from "./adapters/models/tool.ts";
export { filterTools, type ToolFilter } from "./adapters/models/tool-provider.ts";
