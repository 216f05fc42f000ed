export type { Artifact } from "./protocol/artifact.ts";
export type { Message } from "./protocol/message.ts";
export { type Part, textOf } from "./protocol/part.ts";
export { isInterrupted, isTerminal, type TaskState } from "./protocol/state.ts";
export type { Task, TaskStatus } from "./protocol/task.ts";
export type {
  AcceptedNotification,
  IncomingNotification,
  RejectedNotification,
  RejectionReason,
  ReplayStore,
  TrustedIssuer,
  WebhookOptions,
  WebhookResult,
} from "./webhook/contract.ts";
export { createWebhookVerifier, type WebhookVerifier } from "./webhook/create-webhook-verifier.ts";
export { createMemoryReplays } from "./webhook/memory-replays.ts";
export { verifyWebhook } from "./webhook/verify-webhook.ts";
export { type Notification, readNotification } from "./wire/push/notification.ts";
