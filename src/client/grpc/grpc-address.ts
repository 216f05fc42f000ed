import type { AgentCard } from "../../protocol/card.ts";

const SCHEMES: Readonly<Record<string, string>> = {
  "http:": "http",
  "https:": "https",
  "grpc:": "http",
  "grpcs:": "https",
};
const LOCAL = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|\[::1\])$/;

/**
 * The origin of a gRPC interface. Cards write it as `host:port` or as a URL. Without a scheme: that of another interface at the same
 * address; else clear text on this machine and TLS elsewhere. `undefined` for an invalid address.
 */
export function grpcOrigin(address: string, { interfaces }: Pick<AgentCard, "interfaces">): string | undefined {
  const [, scheme, rest = address] = /^([a-z]+:)\/\/(.*)$/i.exec(address) ?? [];
  const known = scheme === undefined ? undefined : SCHEMES[scheme.toLowerCase()];
  if (scheme !== undefined && known === undefined) return undefined;
  const url = URL.parse(`${known ?? "https"}://${rest}`);
  if (url === null || url.username !== "") return undefined;
  if (known !== undefined) return url.origin;
  const port = /:(\d+)$/.exec(rest)?.[1] ?? "443";
  const isPlain = interfaces.some((other) => isAt(other.url, url.hostname, port)) || LOCAL.test(url.hostname);
  return URL.parse(`${isPlain && !isSecure(interfaces, url.hostname, port) ? "http" : "https"}://${rest}`)?.origin;
}

function isAt(address: string, hostname: string, port: string): boolean {
  const other = URL.parse(address);
  return other?.protocol === "http:" && other.hostname === hostname && (other.port || "80") === port;
}

function isSecure(interfaces: AgentCard["interfaces"], hostname: string, port: string): boolean {
  return interfaces.some(({ url: address }) => {
    const other = URL.parse(address);
    return other?.protocol === "https:" && other.hostname === hostname && (other.port || "443") === port;
  });
}
