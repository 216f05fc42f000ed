export type { ModelReply, RequestedCall } from "./adapters/models/call-model.ts";
export { type ModelAgentOptions, type ModelHooks, modelAgent } from "./adapters/models/model-agent.ts";
export { type Environment, modelByName } from "./adapters/models/model-by-name.ts";
export type {
  AssistantContent,
  Model,
  ModelCall,
  ModelMessage,
  ModelStreamPart,
  ModelTool,
  ToolContent,
  UserContent,
} from "./adapters/models/model-contract.ts";
export type { HistoryOptions } from "./adapters/models/prompt.ts";
export type { KeyedCall, ToolOutcome } from "./adapters/models/run-tool.ts";
export { type Tool, type ToolProvider, type ToolRun, type Tools, tool } from "./adapters/models/tool.ts";
