import type { JsonObject } from "./json.ts";

/** Who calls. Tasks belong to the principal's `id` (within a tenant); nobody else sees them. */
export interface Principal {
  readonly id: string;
  readonly anonymous: boolean;
  /** What the authenticator knows besides, for the author's use. */
  readonly claims?: JsonObject;
}

export const ANONYMOUS: Principal = { id: "anonymous", anonymous: true };

/** The boundary every read and write stays within. */
export interface Scope {
  /** The agent the task was given to. */
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string;
}
