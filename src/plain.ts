export {
  clearAgentCardCache,
  discoverAgent,
  type FetchedAgentCard,
  fetchAgentCard,
} from "./client/invoke/fetch-agent-card.ts";
export {
  type InvokeOptions,
  invokeRemoteAgent,
  type RemoteInvocationResult,
} from "./client/invoke/invoke-remote-agent.ts";
export {
  type DiscoverAgentArguments,
  handleDiscoverAgent,
  handleInvokeRemoteAgent,
  type InvokeRemoteAgentArguments,
  type ToolHandlerResult,
} from "./client/invoke/tool-handlers.ts";
export { buildAgentCard, buildAgentCardForAgent } from "./plain/agent-card.ts";
export type { A2AAgentCard, A2AAgentSkill } from "./plain/agent-card-types.ts";
export {
  AgentLoop,
  AgentLoopError,
  type LoopEvent,
  type LoopIds,
  type LoopObservable,
  type LoopResult,
} from "./plain/agent-loop.ts";
export type { CardAgent, CardDatabase, Persona, SkillBundle } from "./plain/built-card.ts";
export { NotFoundError, ValidationError } from "./plain/errors.ts";
export {
  clearMcpTools,
  type McpInstance,
  type McpToolDeclaration,
  registerMcpTools,
} from "./plain/registered-tools.ts";
export { clearTaskStore, handleTaskGet, handleTaskSend } from "./plain/task-handler.ts";
export type {
  A2AMessage,
  A2AProcessDeps,
  A2AProtocolExtension,
  A2AServerDeps,
  A2ATask,
  A2ATaskDeps,
  A2ATaskSendRequest,
  A2ATaskState,
  ManagedAgents,
  ManagedSession,
  NewSession,
  ProcessEvent,
  ProcessListener,
  ProcessManager,
} from "./plain/types.ts";
export { PLAIN_BINDING } from "./wire/plain/binding.ts";
export { ExternalServiceError } from "./wire/plain/named-errors.ts";
