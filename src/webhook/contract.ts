import type { Notification } from "../wire/push/notification.ts";

/** A received notification: a web `Request`, or the parts of one. */
export type IncomingNotification =
  | Request
  | {
      readonly method: string;
      /** `Headers`, or Node's header object. */
      readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
      /** The raw bytes: a signature covers the bytes, not the parsed JSON. */
      readonly body: string | Uint8Array;
    };

/** A server whose notifications are accepted. */
export interface TrustedIssuer {
  /** The `iss` of its tokens: the public URL of the server without a trailing slash. */
  readonly issuer: string;
  /** The URL of its key set. Default: `/.well-known/jwks.json` below `issuer`. */
  readonly jwksUrl?: string;
}

/** Remembers the ids of received notifications for a limited time. */
export interface ReplayStore {
  /** Remembers an id until this time, in milliseconds since 1970. Resolves with true if the id was known already. */
  remember(id: string, until: number): boolean | Promise<boolean>;
}

/** At least `issuers` or `token` must be given. Times are milliseconds. */
export interface WebhookOptions {
  /**
   * Trusted signers; notifications without a signature of one of them are refused. A function decides whether to trust the issuer of a
   * token, whose keys are then fetched from the issuer's URL: pass a `fetch` that refuses internal addresses. Absent: signatures are not
   * checked, and only the token counts.
   */
  readonly issuers?: readonly (string | TrustedIssuer)[] | ((issuer: string) => boolean | Promise<boolean>) | undefined;
  /** The URLs under which this webhook is registered, or a function that recognises them. Required with `issuers`. */
  readonly audience?: string | readonly string[] | ((url: string) => boolean) | undefined;
  /** The token that notifications must carry, or a function that finds it by the task. Absent: no token is required. */
  readonly token?:
    | string
    | ((taskId: string | undefined) => string | undefined | Promise<string | undefined>)
    | undefined;
  /** The maximum age of a signature. Default 300 000. */
  readonly maxAge?: number | undefined;
  /** The allowed difference between the clocks of sender and receiver. Default 60 000. */
  readonly clockSkew?: number | undefined;
  /**
   * What to do with a repeated notification: report it, or refuse it. A sender repeats a notification that was not answered with success, so
   * your first attempt to handle it may have failed. Default `report`.
   */
  readonly repeats?: "report" | "refuse" | undefined;
  /** Where the ids of notifications are remembered. Default: in this process, at most 50 000; the oldest are forgotten first. */
  readonly replays?: ReplayStore | undefined;
  /** The most bytes of a body. Default 10 MB. */
  readonly maxBytes?: number | undefined;
  /** Fetches the issuers' keys. Default: the platform's `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Milliseconds since 1970. Default: the system's time. */
  readonly now?: (() => number) | undefined;
}

/** Why a notification is refused, and the HTTP status to answer with. */
export const REASONS = {
  "not-a-post": 405,
  "too-large": 413,
  "not-a-notification": 400,
  "no-signature": 401,
  "unknown-issuer": 401,
  "unknown-key": 401,
  "bad-signature": 401,
  "wrong-audience": 401,
  "too-old": 401,
  "too-new": 401,
  "wrong-body": 401,
  "wrong-task": 401,
  "no-token": 401,
  "wrong-token": 401,
  repeated: 409,
  /** The issuer's keys could not be fetched: the sender should try again. */
  "keys-unavailable": 503,
} as const;

/** Why a notification was refused, for logs. The answer to the sender needs only the status. */
export type RejectionReason = keyof typeof REASONS;

/** A notification that passed all checks. Answer with any 2xx, or the sender repeats it (A2A 1.0 §13.2). */
export interface AcceptedNotification {
  readonly ok: true;
  /** Absent only from a message that belongs to no task. */
  readonly taskId: string | undefined;
  /** Identifies the notification; the same for every repeat. Absent without a signature. */
  readonly jti: string | undefined;
  /** The issuer that signed it. */
  readonly issuer: string | undefined;
  /** True if it was received before. Always false without a signature. */
  readonly repeated: boolean;
  /** The parsed body. If the notification is signed, body and signature name the same task. */
  readonly notification: Notification;
}

/** A notification that must be ignored. */
export interface RejectedNotification {
  readonly ok: false;
  readonly reason: RejectionReason;
  /** The HTTP status to answer with. */
  readonly status: number;
}

/** The result of a verification; `ok` tells which. */
export type WebhookResult = AcceptedNotification | RejectedNotification;
