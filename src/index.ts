export { RELAYED, type RemoteAgentOptions, remoteAgent } from "./adapters/remote/remote-agent.ts";
export {
  type ApiKeysOptions,
  apiKeys,
  type ForeignApiKeysOptions,
  type IssuedApiKeysOptions,
  type StoredApiKey,
} from "./auth/verify/api-keys.ts";
export { type BasicOptions, basic } from "./auth/verify/basic.ts";
export type {
  ChallengeProblem,
  ClientCertificate,
  CredentialSource,
  Verified,
  Verifier,
} from "./auth/verify/contract.ts";
export { type MutualTlsOptions, mutualTls } from "./auth/verify/mutual-tls.ts";
export { hashPassword } from "./auth/verify/password-hash.ts";
export type { BasicUser } from "./auth/verify/user-check.ts";
export {
  type AbortCause,
  type Agent,
  type AgentDefinition,
  type Answer,
  type ArtifactOptions,
  type ArtifactWriter,
  type AskOptions,
  type AuthOptions,
  type AuthRequest,
  agent,
  type CardDefinition,
  type DeclaredCapabilities,
  type ExtendedCard,
  type FileOutput,
  type InputTimeout,
  type ObservableLike,
  type Output,
  type ReceivedFile,
  type ReplyCall,
  type RestartPolicy,
  type RunFunction,
  type RunResult,
  type Skill,
  type StepContext,
  skill,
  TaskAborted,
  type TaskContext,
  type TaskLog,
} from "./engine/agent/agent.ts";
export type { CardPromises, DeclaredCard, PromisedInterface } from "./engine/agent/card-types.ts";
export { TaskFailure } from "./engine/agent/task-failure.ts";
export type { EngineHooks, TaskRef } from "./engine/api.ts";
export type { Limits } from "./engine/limits.ts";
export type { Logger } from "./internal/logger.ts";
export type { Lookup, Outgoing, OutgoingInit, OutgoingOptions, OutgoingRules } from "./outgoing/contract.ts";
export { createOutgoing } from "./outgoing/create-outgoing.ts";
export { type FailureCode, OutgoingFailure, OutgoingRefused, type RefusalCode } from "./outgoing/errors.ts";
export { createServer, type Listening, type Server } from "./platform/create-server.ts";
export type { ListeningAt } from "./platform/listener.ts";
export { type ApiKeyFileOptions, apiKeyFile } from "./platform/security/api-keys.ts";
export type { AuditRecord } from "./platform/security/audit-log.ts";
export {
  type JwtBearerOptions,
  jwtBearer,
  type OpenIdConnectOptions,
  openIdConnect,
} from "./platform/security/security-issuers.ts";
export type { TlsOptions } from "./platform/security/security-tls.ts";
export { type RunningServer, type ServeOptions, serve } from "./platform/serve.ts";
export type { PushServerOptions } from "./platform/settings/push-settings.ts";
export type { Durability, ServerLimits, ServerOptions } from "./platform/settings/settings.ts";
export { StartupError } from "./platform/startup-error.ts";
export type { Artifact } from "./protocol/artifact.ts";
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
export { A2AError, type A2AErrorOptions, ERROR_CODES, type ErrorCode, type FieldViolation } from "./protocol/error.ts";
export type { ArtifactEvent, StatusEvent, TaskEvent } from "./protocol/event.ts";
export type { ArtifactId, ContextId, MessageId, TaskId } from "./protocol/ids.ts";
export type { JsonObject, JsonValue } from "./protocol/json.ts";
export type { Message, Role } from "./protocol/message.ts";
export { type DataPart, type Part, type RawPart, type TextPart, textOf, type UrlPart } from "./protocol/part.ts";
export type { Principal, Scope } from "./protocol/principal.ts";
export { isInterrupted, isTerminal, type TaskState } from "./protocol/state.ts";
export type { Task, TaskStatus } from "./protocol/task.ts";
export type {
  DeadLetter,
  DeadLetterRef,
  DeadLettersQuery,
  DeliveryOutcome,
  DeliveryRecord,
  PushHooks,
} from "./push/contract.ts";
export type { Policy } from "./server/policy.ts";
export type { SecurityOptions } from "./server/security.ts";
export type { Retention, Store } from "./store/contract.ts";
export type { Authenticate, CallRecord, IncomingRequest, TransportHooks } from "./transport/options.ts";
export type { RateLimit } from "./transport/rate-limit/rate-limiter.ts";
export type { RateLimitOptions } from "./transport/rate-limit/request-limits.ts";
export type { DialectOptions, WaitDefault, WaitingDialect } from "./wire/options.ts";
