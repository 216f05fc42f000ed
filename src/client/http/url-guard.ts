import { isPublicAddress } from "../../internal/ip-address.ts";
import { isPrivateName } from "../../internal/private-name.ts";
import { withoutTrailing } from "../../internal/without-trailing.ts";
import type { Guard, HttpOptions } from "./contract.ts";
import { RemoteError } from "./errors.ts";

export interface UrlGuardOptions {
  /** Whether `http:` may be called as well. Default false. */
  readonly http?: boolean;
  /** Hosts that may be called whatever they are, with their port where they have one: `localhost:3000`. */
  readonly allow?: readonly string[];
  /**
   * Finds the addresses of a name; all of them must be public. Without it only addresses that stand in the URL are looked at,
   * since nothing else can be known everywhere. A name may have other addresses a moment later: who has to rule
   * that out gives a `fetch` that connects to nothing but public addresses.
   */
  readonly resolve?: (hostname: string) => Promise<readonly string[]>;
}

/**
 * Lets pass only what is on the public internet, for callers that take URLs from strangers: no other scheme than `https:`, no
 * user or password, no address of a private network, of this machine or of a cloud's metadata, in whatever notation. What it refuses
 * is thrown as `blocked-url`.
 */
export function createUrlGuard(options: UrlGuardOptions = {}): Guard {
  const { http = false, allow = [], resolve } = options;
  const allowed = new Set(allow.map((host) => host.toLowerCase()));
  return async (url) => {
    if (url.protocol !== "https:" && url.protocol !== "http:") throw blocked(url, `it is no web address`);
    if (url.username !== "" || url.password !== "") throw blocked(url, "it holds a user or a password");
    if (allowed.has(url.host)) return;
    if (url.protocol === "http:" && !http) throw blocked(url, "it is not encrypted");
    const hostname = withoutTrailing(url.hostname, ".");
    const isPublic = isPublicAddress(hostname);
    if (isPublic === false) throw blocked(url, "its address is not on the public internet");
    if (isPublic === true) return;
    if (isPrivateName(hostname)) throw blocked(url, "its name is not one of the public internet");
    await checkAddresses(url, hostname, resolve);
  };
}

/** The guard that an option stands for. */
export function guardOf(option: HttpOptions["guard"]): Guard | undefined {
  return option === "public" ? createUrlGuard() : option;
}

async function checkAddresses(url: URL, hostname: string, resolve: UrlGuardOptions["resolve"]): Promise<void> {
  if (resolve === undefined) return;
  const addresses = await resolve(hostname);
  // What is not understood as an address is not known to be public.
  if (addresses.length === 0 || addresses.some((address) => isPublicAddress(address) !== true)) {
    throw blocked(url, "its name leads to an address that is not on the public internet");
  }
}

/** Names the host alone: the rest may hold what is nobody's business. */
function blocked(url: URL, reason: string): RemoteError {
  return new RemoteError("blocked-url", `${url.protocol}//${url.host} must not be called: ${reason}.`);
}
