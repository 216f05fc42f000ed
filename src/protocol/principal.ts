import type { JsonObject } from "./json.ts";

/** An authenticated or anonymous caller. Tasks belong to its `id` within a tenant; other callers do not see them. */
export interface Principal {
  /** Stable: the same caller has the same id in every request. With the server option `security` it is `<scheme>:<id>`. */
  readonly id: string;
  readonly anonymous: boolean;
  /** Further facts from the authenticator, for the author of the agent. */
  readonly claims?: JsonObject;
  /** Permissions that the credentials grant. */
  readonly scopes?: readonly string[];
  /** The security schemes that the caller satisfied, by their names on the card, with the granted scopes. */
  readonly schemes?: Readonly<Record<string, readonly string[]>>;
  /** Identifies the credentials, for audit logs. Not a secret. */
  readonly credential?: string;
  /** The only tenant that the caller may use, and its default. Absent: any tenant. */
  readonly tenant?: string;
}

/** The caller of a request without credentials. All anonymous callers share their tasks. */
export const ANONYMOUS: Principal = { id: "anonymous", anonymous: true };

/** Every read and write is limited to one scope. */
export interface Scope {
  /** Id of the agent. */
  readonly agent: string;
  /** Empty: no tenant. */
  readonly tenant: string;
  /** The `id` of the caller who created the task. */
  readonly owner: string;
}

export function isSameScope(a: Scope, b: Scope): boolean {
  return a.agent === b.agent && a.tenant === b.tenant && a.owner === b.owner;
}
