import type { Notification } from "../wire/push/notification.ts";

/** A notification as it came in: a web `Request`, or what is needed of one. */
export type IncomingNotification =
  | Request
  | {
      readonly method: string;
      /** As `Headers`, or by name as Node has them. */
      readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>;
      /** As it came, to the byte: what a parser made of it has no signature any more. */
      readonly body: string | Uint8Array;
    };

/** Somebody whose notifications are believed. */
export interface TrustedIssuer {
  /** As its tokens name it: the public URL of the server, without a slash at the end. */
  readonly issuer: string;
  /** Where its keys are. Default: `/.well-known/jwks.json` below it. */
  readonly jwksUrl?: string;
}

/** Remembers for a while what has been seen. */
export interface ReplayStore {
  /** Remembers an id until that time, in milliseconds since 1970. Resolves with whether it was known already. */
  remember(id: string, until: number): boolean | Promise<boolean>;
}

/** At least `issuers` or `token` must be given. Times are milliseconds. */
export interface WebhookOptions {
  /**
   * Whose signatures are believed; without one of theirs nothing is accepted. A function is asked whether to believe whoever a token names,
   * and has their keys fetched from wherever that is: give a `fetch` with it that goes nowhere it should not. Absent: signatures are not
   * looked at, and the token decides alone.
   */
  readonly issuers?: readonly (string | TrustedIssuer)[] | ((issuer: string) => boolean | Promise<boolean>) | undefined;
  /** The URLs that this webhook was registered under, or whether one is. Needed with `issuers`. */
  readonly audience?: string | readonly string[] | ((url: string) => boolean) | undefined;
  /** The token that the notification must carry, or a function that finds it by the task. Absent: none is asked for. */
  readonly token?:
    | string
    | ((taskId: string | undefined) => string | undefined | Promise<string | undefined>)
    | undefined;
  /** How old a signature may be at most. Default 300 000. */
  readonly maxAge?: number | undefined;
  /** By how much the clocks of both sides may differ. Default 60 000. */
  readonly clockSkew?: number | undefined;
  /**
   * What to do with a notification that has been seen: say so, or refuse it. A sender repeats what was not answered with success, so that a repeated
   * one may be one that could not be dealt with the first time. Default `report`.
   */
  readonly repeats?: "report" | "refuse" | undefined;
  /** Where the ids of notifications are remembered. Default: in this process, 50 000 at most, the oldest go first. */
  readonly replays?: ReplayStore | undefined;
  /** How many bytes a body may have. Default 10 MB. */
  readonly maxBytes?: number | undefined;
  /** Fetches the issuers' keys. Default: that of the platform. */
  readonly fetch?: typeof fetch | undefined;
  /** Milliseconds since 1970. Default: the system's time. */
  readonly now?: (() => number) | undefined;
}

/** Why a notification is not accepted, and the HTTP status that says so. */
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

export type RejectionReason = keyof typeof REASONS;

export interface AcceptedNotification {
  readonly ok: true;
  /** Absent only from a message that belongs to no task. */
  readonly taskId: string | undefined;
  /** The same whenever the same is sent again. Absent where nothing was signed. */
  readonly jti: string | undefined;
  /** Who signed it. */
  readonly issuer: string | undefined;
  /** It has been seen before. Always false where nothing was signed. */
  readonly repeated: boolean;
  readonly notification: Notification;
}

export interface RejectedNotification {
  readonly ok: false;
  readonly reason: RejectionReason;
  /** The HTTP status to answer with. */
  readonly status: number;
}

export type WebhookResult = AcceptedNotification | RejectedNotification;
