import type { JsonObject } from "./json.ts";

/** Who calls. Tasks belong to the principal's `id` (within a tenant); nobody else sees them. */
export interface Principal {
  readonly id: string;
  readonly anonymous: boolean;
  /** What the authenticator knows besides, for the author's use. */
  readonly claims?: JsonObject;
  /** What the caller may do, as far as its credentials say so. */
  readonly scopes?: readonly string[];
  /** The security schemes the caller has met, by their names on the card, each with the scopes it grants. */
  readonly schemes?: Readonly<Record<string, readonly string[]>>;
  /** Which of the caller's credentials these are, for those who look into it later; no secret. */
  readonly credential?: string;
  /** The only tenant this caller may name, and the one meant where it names none. Absent: any. */
  readonly tenant?: string;
}

export const ANONYMOUS: Principal = { id: "anonymous", anonymous: true };

/** The boundary every read and write stays within. */
export interface Scope {
  /** The agent the task was given to. */
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string;
}

export function isSameScope(a: Scope, b: Scope): boolean {
  return a.agent === b.agent && a.tenant === b.tenant && a.owner === b.owner;
}
