import type { RestRoute } from "../codec.ts";

/** The two routes of the plain dialect: send a message, get a task. */
export const ROUTES: readonly RestRoute[] = [
  { method: "POST", path: "/a2a/tasks/send", operation: "send" },
  { method: "GET", path: "/a2a/tasks/{id}", operation: "get" },
];
