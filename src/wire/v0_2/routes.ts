import type { RestRoute } from "../codec.ts";

/** The one thing that this version has by a path of its own. Where it stands is told relative to the agent's address: `../agent/…`. */
export const ROUTES: readonly RestRoute[] = [
  { method: "GET", path: "/agent/authenticatedExtendedCard", operation: "extended-card" },
];
