import type { ClientAbilities } from "../contract.ts";
import { type SealOptions, seal, unseal } from "./sealed-text.ts";

/** The revisions with sessions that this server speaks, the latest first. */
export const LEGACY_REVISIONS: readonly string[] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/**
 * A session of the revisions up to 2025-11-25. Its id contains everything about it, signed, so that any node serves it, also after a restart.
 */
export interface LegacySession {
  readonly revision: string;
  readonly client: ClientAbilities;
}

const BINDING = "mcp session";

export function sessionId({ revision, client }: LegacySession, key: Uint8Array): string {
  return seal({ v: revision, f: client.forms, u: client.urls }, options(key));
}

/** The session with this id; `undefined` if this server did not create it. */
export function readSession(id: string, key: Uint8Array): LegacySession | undefined {
  const value = unseal(id, options(key));
  const { v: revision, f: forms, u: urls } = value ?? {};
  if (typeof revision !== "string") return undefined;
  return { revision, client: { forms: forms === true, urls: urls === true, tasks: false } };
}

/** A client that sends no session id: it can do nothing but call tools. */
export const NO_SESSION: LegacySession = {
  revision: "2025-03-26",
  client: { forms: false, urls: false, tasks: false },
};

function options(key: Uint8Array): SealOptions {
  return { key, binding: BINDING };
}
