export { RELAYED, type RemoteAgentOptions, remoteAgent } from "./adapters/remote/remote-agent.ts";
export { type TeamOptions, type TeamPattern, team } from "./adapters/team.ts";
export {
  type AbortCause,
  type Agent,
  type AgentCall,
  type AgentDefinition,
  type Answer,
  type ArtifactChunk,
  type ArtifactOptions,
  type ArtifactWriter,
  type AskOptions,
  type AuthOptions,
  type AuthRequest,
  type CallData,
  type CallEvent,
  type CallLimits,
  type CallMessage,
  type CallOptions,
  type CallQuestion,
  type CallResult,
  type CallSkill,
  type CallTarget,
  type ContextValues,
  type ConversationMessage,
  type ConversationOptions,
  type DeclaredCapabilities,
  type ExtendedCard,
  type FileOutput,
  type InputTimeout,
  type JsonSchemaSource,
  type ObservableLike,
  type Output,
  type ReceivedFile,
  type ReplyCall,
  type RestartPolicy,
  type RunFunction,
  type RunResult,
  type Skill,
  type StatusLinks,
  type StatusUpdate,
  type StepContext,
  type StepOptions,
  skill,
  TaskAborted,
  type TaskContext,
  type TaskLog,
  type ToolCall,
  type ToolCallResult,
  type Usage,
} from "./engine/agent/agent.ts";
export { TaskFailure } from "./engine/agent/task-failure.ts";
export { CallError, type CallErrorCode } from "./engine/call/call-error.ts";
export type { Logger } from "./internal/logger.ts";
export { agent, type CardDefinition } from "./platform/agents/agent.ts";
export { createServer, type Server } from "./platform/create-server.ts";
export { type RunningServer, type ServeOptions, serve } from "./platform/serve.ts";
export type { ServerOptions } from "./platform/settings/settings.ts";
export { StartupError } from "./platform/startup-error.ts";
export type { Artifact } from "./protocol/artifact.ts";
export { type Ancestry, type Budget, CALLS } from "./protocol/calls/ancestry.ts";
export { type CalledTask, type CallRelations, type Counters, callRelationsOf } from "./protocol/calls/call-tree.ts";
export type {
  AgentCapabilities,
  AgentCard,
  AgentExtension,
  AgentInterface,
  AgentProvider,
  AgentSkill,
  OAuthFlow,
  OAuthFlowName,
  SecurityRequirement,
  SecurityScheme,
} from "./protocol/card.ts";
export type { CardPromises, PromisedInterface } from "./protocol/card-promises.ts";
export { A2AError, type A2AErrorOptions, ERROR_CODES, type ErrorCode, type FieldViolation } from "./protocol/error.ts";
export type { ArtifactEvent, StatusEvent, TaskEvent } from "./protocol/event.ts";
export type { ArtifactId, ContextId, MessageId, TaskId } from "./protocol/ids.ts";
export type { JsonObject, JsonValue } from "./protocol/json.ts";
export type { Message, Role } from "./protocol/message.ts";
export { type DataPart, type Part, type RawPart, type TextPart, textOf, type UrlPart } from "./protocol/part.ts";
export type { Principal, Scope } from "./protocol/principal.ts";
export { isInterrupted, isTerminal, type TaskState } from "./protocol/state.ts";
export type { Task, TaskStatus } from "./protocol/task.ts";
export type { DeclaredCard } from "./wire/card/declared-card.ts";
