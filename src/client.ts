export { type EncryptionKey, encryptTo } from "./auth/secret-box.ts";
export type {
  A2AClient,
  A2AStreamEvent,
  AgentClient,
  CallOptions,
  FileInput,
  GetOptions,
  MessageInput,
  MessageSendParams,
  PartInput,
  Question,
  RemotePush,
  RemoteStream,
  RemoteStreamEvent,
  RemoteTask,
  SendOptions,
  Sent,
  StreamOptions,
  StreamResult,
  TaskFilter,
  TaskPage,
  ToolCall,
} from "./client/api.ts";
export { type ConnectOptions, connect } from "./client/connect.ts";
export type {
  ApiKey,
  AuthorizationCodeSteps,
  CredentialSet,
  Credentials,
  DevicePrompt,
  OAuthCredentials,
  Token,
  TokenStore,
  UsableFlow,
} from "./client/credentials/contract.ts";
export { type Authorizer, createAuthorizer, describeRequirements } from "./client/credentials/create-authorizer.ts";
export type { Secret } from "./client/credentials/secret.ts";
export { type CardCache, type CardCacheOptions, createCardCache } from "./client/discovery/card-cache.ts";
export { chooseInterface, type InterfaceChoice, type InterfaceOptions } from "./client/discovery/choose-interface.ts";
export { type Discovered, type DiscoverOptions, discover } from "./client/discovery/discover.ts";
export { type CardVerification, type VerifiedCard, verifyCard } from "./client/discovery/verify-card.ts";
export type {
  Authorize,
  AuthorizeContext,
  Challenge,
  Guard,
  HttpOptions,
  OutgoingRequest,
} from "./client/http/contract.ts";
export {
  CLIENT_ERROR_CODES,
  type RemoteDetail,
  RemoteError,
  type RemoteErrorCode,
  type RemoteErrorOptions,
} from "./client/http/errors.ts";
export type { FetchOptions } from "./client/http/fetch-document.ts";
export type { ClientOptions, RetryOptions } from "./client/http/settings.ts";
export { createUrlGuard, type UrlGuardOptions } from "./client/http/url-guard.ts";
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
export { skillMessage } from "./client/skill-message.ts";
export type { Artifact } from "./protocol/artifact.ts";
export { type AuthRequestData, authRequestOf, secretPart } from "./protocol/auth-request-part.ts";
export type { AgentCard, AgentInterface } from "./protocol/card.ts";
export type { ErrorCode, FieldViolation } from "./protocol/error.ts";
export type { ArtifactEvent, StatusEvent, TaskEvent } from "./protocol/event.ts";
export { IDEMPOTENT_SEND, INPUT_SCHEMAS } from "./protocol/extensions.ts";
export type { JsonObject, JsonValue } from "./protocol/json.ts";
export type { Message } from "./protocol/message.ts";
export type { PushConfig } from "./protocol/operation.ts";
export { type Part, textOf } from "./protocol/part.ts";
export { isInterrupted, isTerminal, type TaskState } from "./protocol/state.ts";
export type { Task, TaskStatus } from "./protocol/task.ts";
export { ExternalServiceError, ValidationError } from "./wire/plain/named-errors.ts";
