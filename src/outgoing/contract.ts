/** What may be called. */
export interface OutgoingRules {
  /** Whether `http:` may be called as well as `https:`. Default false. */
  readonly http?: boolean | undefined;
  /**
   * Where it may go besides the public internet: hosts (`hooks.corp`), hosts with a port (`10.0.0.7:9000`), addresses and networks
   * (`10.1.0.0/16`), and the words `loopback` and `private`. Neither says anything of `http:`. A host that is named with its port may
   * be called on that port whatever `ports` says. A name that is allowed may have any address but those of clouds' metadata
   * services, which must be named as addresses. Default: none.
   */
  readonly allow?: readonly string[] | undefined;
  /**
   * The ports that may be called. Default: that of the scheme, and all from 1024 on but for those that other services of the
   * internet listen on.
   */
  readonly ports?: readonly number[] | undefined;
}

export interface OutgoingOptions extends OutgoingRules {
  /** Milliseconds until it is given up, the body of the answer included; `Infinity` for streams. Default 30 000. */
  readonly timeout?: number | undefined;
  /** Milliseconds until a connection is there, with its name looked up and its encryption agreed on. Default 10 000. */
  readonly connectTimeout?: number | undefined;
  /** How many bytes an answer may have; `Infinity` for streams. Default 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** Connections to one origin at a time; further requests wait for one of them. Default 16. */
  readonly maxSockets?: number | undefined;
  /** Finds all addresses of a name. Default: the system's way. */
  readonly lookup?: Lookup | undefined;
  /** Certificates of the authorities to trust, in PEM. Default: those that Node trusts. */
  readonly ca?: string | undefined;
}

export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** What a request may say besides what `fetch` knows. */
export interface OutgoingInit {
  /** Default: that of the options. */
  readonly timeout?: number;
  /** Default: that of the options. */
  readonly maxBytes?: number;
}

/**
 * The one way out of this process to addresses that strangers named. Every connection goes to an address that was looked at before, whatever a
 * name leads to a moment later.
 */
export interface Outgoing {
  /**
   * What can be known of an address without looking its name up. Throws an `OutgoingRefused` that carries `field`.
   */
  check(url: string | URL, field?: string): URL;
  /**
   * As the `fetch` that every platform has, so that it can be given to whoever takes one. `redirect: "follow"` follows within the
   * origin alone, three times at most, and 301, 302 and 303 for GET and HEAD alone; `"error"` not at all. Rejects with `OutgoingRefused` where the request must not be made,
   * with `OutgoingFailure` where it failed, and with the signal's reason where that aborts. Compressed answers are not asked for.
   */
  fetch(input: string | URL | Request, init?: RequestInit & OutgoingInit): Promise<Response>;
  /** Ends connections that are kept. What is under way fails. */
  close(): void;
}
