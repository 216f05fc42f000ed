import { RemoteError } from "./errors.ts";
import { HeaderFields } from "./header-fields.ts";
import type { HttpRequest } from "./http-request.ts";
import type { HttpResponse } from "./send.ts";

/** How many redirects of one request are followed. */
export const MAX_REDIRECTS = 5;

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** The only headers that another origin may receive. Any other header may hold a credential. */
const PUBLIC_HEADERS = ["accept", "a2a-version"];

/** Names a URL without its query, user and password, which may be secret. */
export function shown(url: URL): string {
  return `${url.origin}${url.pathname}`;
}

/** The `Location` of a redirect; `undefined` for every other answer, and for a redirect without one. */
export function locationOf({ status, headers }: HttpResponse): string | undefined {
  return REDIRECTS.has(status) ? (headers.get("location") ?? undefined) : undefined;
}

/**
 * The request to send to the target of a redirect. Throws `blocked-url` if following it would change the method, or would
 * send a body, a credential or a private request to another origin.
 */
export function redirected(request: HttpRequest, status: number, location: string): HttpRequest {
  const { method, url: from } = request;
  const to = URL.parse(location, from.href);
  if (to === null) throw refused(from, "to a Location that is not a URL");
  if (to.protocol !== "https:" && to.protocol !== "http:") throw refused(from, `to ${to.protocol}, not http or https`);
  if (to.username !== "" || to.password !== "") throw refused(from, `to ${to.origin} with a user or a password`);
  // Only 307 and 308 keep method and body (RFC 9110 §15.4).
  if (method !== "GET" && status < 307) {
    throw refused(from, `a ${method} to ${to.origin} with HTTP ${status}, which would turn it into a GET`);
  }
  if (to.origin === from.origin) return { ...request, url: to };
  if (from.protocol === "https:" && to.protocol === "http:") throw refused(from, `to ${to.origin}, without encryption`);
  if (request.isPublic !== true || request.body !== undefined) {
    throw refused(from, `to another origin, ${to.origin}, which must not receive this request`);
  }
  return { ...request, url: to, headers: publicHeaders(request.headers) };
}

/** A copy without headers that may hold a credential. */
export function publicHeaders(headers: Headers): Headers {
  const kept = new HeaderFields();
  for (const name of PUBLIC_HEADERS) {
    const value = headers.get(name);
    if (value !== null) kept.set(name, value);
  }
  return kept;
}

function refused(from: URL, what: string): RemoteError {
  return new RemoteError("blocked-url", `${shown(from)} redirects ${what}. The redirect was not followed.`);
}
