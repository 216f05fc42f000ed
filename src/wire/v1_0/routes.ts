import type { RestRoute } from "../codec.ts";

/**
 * The routes of A2A 1.0 §11.3. Every route also exists with the prefix `/{tenant}`. The text has POST for subscribe and the proto
 * definition has GET; both are routed.
 */
export const ROUTES: readonly RestRoute[] = [
  { method: "POST", path: "/message:send", operation: "send" },
  { method: "POST", path: "/message:stream", operation: "stream" },
  { method: "GET", path: "/tasks", operation: "list" },
  { method: "GET", path: "/tasks/{id}", operation: "get" },
  { method: "POST", path: "/tasks/{id}:cancel", operation: "cancel" },
  { method: "GET", path: "/tasks/{id}:subscribe", operation: "subscribe" },
  { method: "POST", path: "/tasks/{id}:subscribe", operation: "subscribe" },
  { method: "POST", path: "/tasks/{id}/pushNotificationConfigs", operation: "push-create" },
  { method: "GET", path: "/tasks/{id}/pushNotificationConfigs", operation: "push-list" },
  { method: "GET", path: "/tasks/{id}/pushNotificationConfigs/{configId}", operation: "push-get" },
  { method: "DELETE", path: "/tasks/{id}/pushNotificationConfigs/{configId}", operation: "push-delete" },
  { method: "GET", path: "/extendedAgentCard", operation: "extended-card" },
];
