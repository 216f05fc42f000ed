/** Which addresses may be called. */
export interface OutgoingRules {
  /** Allows `http:` besides `https:`. Default false. */
  readonly http?: boolean | undefined;
  /**
   * Targets allowed besides the public internet: hosts (`hooks.corp`), hosts with a port (`10.0.0.7:9000`), addresses and networks
   * (`10.1.0.0/16`), and the words `loopback` and `private`. None of them allows `http:`. A host with a port may be called on that port
   * whatever `ports` says. An allowed name may have any address except those of cloud metadata services, which must be allowed as
   * addresses. Default: none.
   */
  readonly allow?: readonly string[] | undefined;
  /**
   * The allowed ports. Default: the port of the scheme, and all from 1024 on except the well-known ports of other internet
   * services.
   */
  readonly ports?: readonly number[] | undefined;
}

/** The rules, and the limits of each request. */
export interface OutgoingOptions extends OutgoingRules {
  /** Milliseconds for the whole request, including the body of the answer; `Infinity` for streams. Default 30 000. */
  readonly timeout?: number | undefined;
  /** Milliseconds to connect, including the name lookup and the TLS handshake. Default 10 000. */
  readonly connectTimeout?: number | undefined;
  /** The most bytes of an answer; `Infinity` for streams. Default 1 MiB. */
  readonly maxBytes?: number | undefined;
  /** Connections to one origin at a time; further requests wait. Default 16. */
  readonly maxSockets?: number | undefined;
  /** Resolves all addresses of a host name. Default: the system's resolver. */
  readonly lookup?: Lookup | undefined;
  /** Trusted certificate authorities, in PEM. Default: those that Node trusts. */
  readonly ca?: string | undefined;
}

/** Resolves with IP addresses as text. Rejects, or resolves with none, if the name is unknown. */
export type Lookup = (hostname: string) => Promise<readonly string[]>;

/** Options of a request in addition to those of `fetch`. */
export interface OutgoingInit {
  /** Default: the value in {@link OutgoingOptions}. */
  readonly timeout?: number;
  /** Default: the value in {@link OutgoingOptions}. */
  readonly maxBytes?: number;
  /**
   * Called when the connection is open, and before anything is sent on it; also for each redirect. It may abort the request by its signal: then
   * the server has received nothing.
   */
  readonly beforeSend?: () => void;
}

/**
 * The only HTTP client for addresses from untrusted parties. Every connection goes to an address that was checked first, even if the name
 * resolves differently a moment later (DNS rebinding).
 */
export interface Outgoing {
  /**
   * Checks an address without resolving its name. Throws an `OutgoingRefused` with this `field`.
   */
  check(url: string | URL, field?: string): URL;
  /**
   * Like the standard `fetch`, and a drop-in replacement for it. `redirect: "follow"` follows at most three redirects within the origin,
   * and 301, 302 and 303 only for GET and HEAD; `"error"` follows none. Rejects with `OutgoingRefused` if the request is not allowed,
   * with `OutgoingFailure` if it failed, and with the signal's reason if that aborts. Does not request compressed answers.
   */
  fetch(input: string | URL | Request, init?: RequestInit & OutgoingInit): Promise<Response>;
  /** Closes idle connections. Requests on their way fail. */
  close(): void;
}
