/** Why an address is not called. */
export const REFUSALS = [
  /** It cannot be understood as an address. */
  "invalid-url",
  /** Neither `https:` nor, where that was allowed, `http:`. */
  "scheme",
  /** It holds a user or a password. */
  "credentials",
  "port",
  /** A name of one's own network. */
  "private-name",
  /** An address that is not on the public internet, written out or behind a name. */
  "private-address",
  /** It sends on to somewhere that was not asked for, or for ever. */
  "redirect",
] as const;

export type RefusalCode = (typeof REFUSALS)[number];

export interface OutgoingRefusedOptions {
  /** What of a caller's request named the address. */
  readonly field?: string | undefined;
}

/** A request that must not be made. Trying again changes nothing. The message names the host and nothing of its path or query. */
export class OutgoingRefused extends Error {
  override readonly name = "OutgoingRefused";
  readonly code: RefusalCode;
  readonly field: string | undefined;

  constructor(code: RefusalCode, message: string, { field }: OutgoingRefusedOptions = {}) {
    super(message);
    this.code = code;
    this.field = field;
  }
}

/**
 * `unreachable`: its name was not found, nobody listens there, or encryption could not be agreed on. `timeout`: not done in time. `broken`:
 * the answer ended early, or was none. `too-large`: the answer is longer than it may be.
 */
export type FailureCode = "unreachable" | "timeout" | "broken" | "too-large";

/** A request that was made, or tried, and came to nothing. Another try may go better. The message names the host alone. */
export class OutgoingFailure extends Error {
  override readonly name = "OutgoingFailure";
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
