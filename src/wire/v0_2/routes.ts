import type { RestRoute } from "../codec.ts";

/** The only REST path of 0.2 (A2A 0.2 §7.10). Clients resolve it relative to the agent's URL: `../agent/authenticatedExtendedCard`. */
export const ROUTES: readonly RestRoute[] = [
  { method: "GET", path: "/agent/authenticatedExtendedCard", operation: "extended-card" },
];
