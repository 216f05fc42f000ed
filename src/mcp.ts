export { mcpAgent } from "./adapters/mcp/mcp-agent.ts";
export type {
  McpAgentBehaviour,
  McpAgentOptions,
  McpProgramOptions,
  McpToolInfo,
  McpUrlOptions,
} from "./adapters/mcp/mcp-agent-options.ts";
export { type McpFailureCode, McpServerError } from "./adapters/mcp/mcp-failure.ts";
export type { McpUrlAddress } from "./adapters/mcp/mcp-server-address.ts";
