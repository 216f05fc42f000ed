import type { RestRoute } from "../codec.ts";

/** All there is: give an agent something to do, and look how far it has come. */
export const ROUTES: readonly RestRoute[] = [
  { method: "POST", path: "/a2a/tasks/send", operation: "send" },
  { method: "GET", path: "/a2a/tasks/{id}", operation: "get" },
];
