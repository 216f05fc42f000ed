import type { RestRoute } from "../codec.ts";

const CONFIGS = "/v1/tasks/{id}/pushNotificationConfigs";
/** The path in 0.2.2 to 0.2.4. */
const EARLIER_CONFIGS = "/v1/tasks/{id}/pushNotifications";

/** Shared by both styles. Subscribe has GET in the proto definition and POST in the text, so both are routed. */
export const ROUTES: readonly RestRoute[] = [
  { method: "POST", path: "/v1/message:send", operation: "send" },
  { method: "POST", path: "/v1/message:stream", operation: "stream" },
  { method: "GET", path: "/v1/tasks", operation: "list" },
  { method: "GET", path: "/v1/tasks/{id}", operation: "get" },
  { method: "POST", path: "/v1/tasks/{id}:cancel", operation: "cancel" },
  { method: "GET", path: "/v1/tasks/{id}:subscribe", operation: "subscribe" },
  { method: "POST", path: "/v1/tasks/{id}:subscribe", operation: "subscribe" },
  { method: "POST", path: CONFIGS, operation: "push-create" },
  // A mistake in the proto definition (`task` instead of `tasks`), which clients follow.
  { method: "POST", path: "/v1/task/{id}/pushNotificationConfigs", operation: "push-create" },
  { method: "GET", path: CONFIGS, operation: "push-list" },
  { method: "GET", path: `${CONFIGS}/{configId}`, operation: "push-get" },
  { method: "DELETE", path: `${CONFIGS}/{configId}`, operation: "push-delete" },
  { method: "POST", path: EARLIER_CONFIGS, operation: "push-create" },
  { method: "GET", path: EARLIER_CONFIGS, operation: "push-list" },
  { method: "GET", path: `${EARLIER_CONFIGS}/{configId}`, operation: "push-get" },
  { method: "GET", path: "/v1/card", operation: "extended-card" },
];
