import { A2AError, type ServerOptions } from "palaver";
import type { Verifier } from "palaver/auth";

/**
 * Alice may do everything; Bob may do everything except read the extended card and cancel; other callers are refused.
 */
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  alice: ["use", "inside"],
  bob: ["use"],
  carol: ["use", "inside"],
};

/** Accepts these names as credentials. */
const names: Verifier = {
  scheme: { type: "http", scheme: "bearer" },
  challenge: (problem) => (problem === undefined ? "Bearer" : `Bearer error="${problem.error}"`),
  async verify({ headers }) {
    const shown = headers.get("authorization");
    if (shown === null) return undefined;
    const id = /^Bearer (\w+)$/.exec(shown)?.[1] ?? "";
    const scopes = SCOPES[id];
    if (scopes === undefined) throw new A2AError("unauthenticated", "Invalid credentials");
    return { id, scopes };
  },
};

/** Options of a server that authenticates every caller and checks scopes. */
export const GUARDED: ServerOptions = {
  authenticate: undefined,
  security: {
    schemes: { names },
    policies: [{ operation: ["extended-card", "cancel"], scopes: ["inside"] }],
  },
};
