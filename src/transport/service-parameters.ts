import type { Exchange } from "./exchange.ts";

const MAX_EXTENSIONS = 64;

/** The version the caller asks for, by header or, where it cannot set headers, by query. */
export function requestedVersion(exchange: Exchange): string | undefined {
  const header = exchange.header("a2a-version");
  if (header !== undefined) return header;
  const query = exchange.target.indexOf("?");
  return query === -1 ? undefined : (new URLSearchParams(exchange.target.slice(query)).get("A2A-Version") ?? undefined);
}

/** URIs of the extensions the caller asks for. */
export function requestedExtensions(exchange: Exchange): readonly string[] {
  const header = exchange.header("a2a-extensions");
  if (header === undefined) return NONE;
  const uris = header.split(",", MAX_EXTENSIONS).map((uri) => uri.trim());
  return [...new Set(uris.filter((uri) => uri !== ""))];
}

const NONE: readonly string[] = [];
