import type { Exchange } from "./exchange.ts";

const MAX_EXTENSIONS = 64;

/** The version that the caller requests, in the `A2A-Version` header or the query parameter of that name (A2A 1.0 §3.6.1). */
export function requestedVersion(exchange: Exchange): string | undefined {
  const header = exchange.header("a2a-version");
  if (header !== undefined && header !== "") return header;
  const query = exchange.target.indexOf("?");
  if (query === -1) return header;
  for (const [name, value] of new URLSearchParams(exchange.target.slice(query))) {
    if (name.toLowerCase() === "a2a-version") return value;
  }
  return header;
}

/** URIs of the extensions that the caller requests, in `A2A-Extensions` or the older `X-A2A-Extensions`. */
export function requestedExtensions(exchange: Exchange): readonly string[] {
  const header = exchange.header("a2a-extensions");
  const older = exchange.header("x-a2a-extensions");
  if (header === undefined && older === undefined) return NONE;
  const uris = `${header ?? ""},${older ?? ""}`.split(",").map((uri) => uri.trim());
  return [...new Set(uris.filter((uri) => uri !== ""))].slice(0, MAX_EXTENSIONS);
}

const NONE: readonly string[] = [];
