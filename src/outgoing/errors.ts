/** Why an address may not be called. */
export const REFUSALS = [
  /** It is not a valid URL. */
  "invalid-url",
  /** Its scheme is neither `https:` nor, if allowed, `http:`. */
  "scheme",
  /** It contains a user name or a password. */
  "credentials",
  "port",
  /** A host name of an internal network. */
  "private-name",
  /** An IP address that is not on the public internet, in the URL or resolved from its host name. */
  "private-address",
  /** It redirects to another origin, or too often. */
  "redirect",
] as const;

/** The `code` of an `OutgoingRefused`. */
export type RefusalCode = (typeof REFUSALS)[number];

/** Optional members of an `OutgoingRefused`. */
export interface OutgoingRefusedOptions {
  /** The field of the caller's request that contains the address. */
  readonly field?: string | undefined;
}

/** The request is not allowed; a retry is useless. The message contains the host, but neither path nor query. */
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
 * `unreachable`: the name was not found, the connection was refused, or the TLS handshake failed. `timeout`: not finished in time. `broken`:
 * the answer ended early or is invalid. `too-large`: the answer exceeds `maxBytes`.
 */
export type FailureCode = "unreachable" | "timeout" | "broken" | "too-large";

/** The request failed; a retry may succeed. The message contains only the host. */
export class OutgoingFailure extends Error {
  override readonly name = "OutgoingFailure";
  readonly code: FailureCode;

  constructor(code: FailureCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
