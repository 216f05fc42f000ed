import { isPublicAddress } from "../../internal/ip-address.ts";
import { isPrivateName } from "../../internal/private-name.ts";
import { withoutTrailing } from "../../internal/without-trailing.ts";
import type { Guard, HttpOptions } from "./contract.ts";
import { RemoteError } from "./errors.ts";

/** Options of `createUrlGuard`. */
export interface UrlGuardOptions {
  /** Allow `http:` URLs. Default false. */
  readonly http?: boolean;
  /** Hosts that are always allowed, with port if it is not the default: `localhost:3000`. Default: none. */
  readonly allow?: readonly string[];
  /**
   * Resolves a host name to its addresses; all of them must be public. Default: names are not resolved, only addresses in the URL are checked. A name
   * may resolve differently a moment later (DNS rebinding): to rule that out, pass a `fetch` that connects only to public addresses.
   */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
}

/**
 * Creates a guard that allows only URLs on the public internet, for callers that take URLs from untrusted sources: only `https:`, no user or
 * password, no address of a private network, of this machine or of a cloud's metadata service, in any notation. The guard throws `blocked-url`.
 */
export function createUrlGuard(options: UrlGuardOptions = {}): Guard {
  const { http = false, allow = [], resolve } = options;
  const allowed = new Set(allow.map((host) => host.toLowerCase()));
  return async (url) => {
    if (url.protocol !== "https:" && url.protocol !== "http:") throw blocked(url, "it is not an http or https URL");
    if (url.username !== "" || url.password !== "") throw blocked(url, "it contains a user or a password");
    if (allowed.has(url.host)) return;
    if (url.protocol === "http:" && !http) throw blocked(url, "it is not encrypted");
    const hostname = withoutTrailing(url.hostname, ".");
    const isPublic = isPublicAddress(hostname);
    if (isPublic === false) throw blocked(url, "its address is not on the public internet");
    if (isPublic === true) return;
    if (isPrivateName(hostname)) throw blocked(url, "its name is not on the public internet");
    await checkAddresses(url, hostname, resolve);
  };
}

/** The guard for the option: `public` is `createUrlGuard()`. */
export function guardOf(option: HttpOptions["guard"]): Guard | undefined {
  return option === "public" ? createUrlGuard() : option;
}

async function checkAddresses(url: URL, hostname: string, resolve: UrlGuardOptions["resolve"]): Promise<void> {
  if (resolve === undefined) return;
  const addresses = await resolve(hostname);
  // A value that cannot be parsed as an address is not public.
  if (addresses.length === 0 || addresses.some((address) => isPublicAddress(address) !== true)) {
    throw blocked(url, "its name resolves to an address that is not on the public internet");
  }
}

/** The error names only the host: path and query may be secret. */
function blocked(url: URL, reason: string): RemoteError {
  return new RemoteError("blocked-url", `${url.protocol}//${url.host} must not be called: ${reason}.`);
}
