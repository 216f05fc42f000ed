export { acpAgent } from "./adapters/acp/acp-agent.ts";
export type { AcpFailureCode } from "./adapters/acp/acp-failure.ts";
export type {
  AcpAgentOptions,
  AcpBehaviour,
  PermissionChoice,
  PermissionDecision,
  PermissionPolicy,
  PermissionRequest,
} from "./adapters/acp/acp-options.ts";
