export type { EngineHooks, TaskRef } from "./engine/api.ts";
export type { Limits } from "./engine/limits.ts";
export type { Logger } from "./internal/logger.ts";
export { createServer, type Listening, type Server } from "./platform/create-server.ts";
export type { ListeningAt } from "./platform/listener.ts";
export type { AuditRecord } from "./platform/security/audit-log.ts";
export type { TlsOptions } from "./platform/security/security-tls.ts";
export { type RunningServer, type ServeOptions, serve } from "./platform/serve.ts";
export type { PushServerOptions } from "./platform/settings/push-settings.ts";
export type { Durability, ServerLimits, ServerOptions } from "./platform/settings/settings.ts";
export { StartupError } from "./platform/startup-error.ts";
export type { Principal } from "./protocol/principal.ts";
export type { TraceContext } from "./protocol/trace-context.ts";
export type {
  DeadLetter,
  DeadLetterRef,
  DeadLettersQuery,
  DeliveryOutcome,
  DeliveryRecord,
  PushHooks,
} from "./push/contract.ts";
export type { SecurityOptions } from "./server/security.ts";
export type { Retention, Store } from "./store/contract.ts";
export type {
  AttemptEnd,
  AttemptSpan,
  AttemptStart,
  CallEnd,
  CallStart,
  CommitReport,
  DeliveryEnd,
  DeliveryStart,
  ObservedTask,
  RequestEnd,
  RequestStart,
  Span,
  StepStart,
  Telemetry,
  WorkEnd,
} from "./telemetry/contract.ts";
export type { Authenticate, CallRecord, IncomingRequest, TransportHooks } from "./transport/options.ts";
export type { RateLimit } from "./transport/rate-limit/rate-limiter.ts";
export type { RateLimitOptions } from "./transport/rate-limit/request-limits.ts";
export type { DialectOptions, WaitDefault, WaitingDialect } from "./wire/options.ts";
