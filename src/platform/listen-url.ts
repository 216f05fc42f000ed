import { isIPv6 } from "node:net";

/** Whether a server on this host accepts connections on every address of the machine. */
export function isWildcard(host: string): boolean {
  return host === "0.0.0.0" || host === "::";
}

/** The URL of a server on this machine, such as `http://127.0.0.1:3000`. A wildcard host becomes `localhost`, which browsers accept. */
export function urlOf(host: string, port: number, scheme: "http" | "https" = "http"): string {
  if (isWildcard(host)) return `${scheme}://localhost:${port}`;
  return `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}
