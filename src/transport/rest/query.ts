import { invalidField } from "../../protocol/error.ts";

/** Longer than any parameter is called. */
const MAX_NAME = 64;

/** The query of a target. Throws where its percent-encoding is broken, naming the parameter: it would be read as something else. */
export function queryOf(target: string): URLSearchParams {
  const start = target.indexOf("?");
  if (start === -1) return new URLSearchParams();
  const query = target.slice(start + 1);
  if (query.includes("%")) for (const pair of query.split("&")) requireDecodable(pair);
  return new URLSearchParams(query);
}

function requireDecodable(pair: string): void {
  if (decoded(pair) !== undefined) return;
  const name = decoded(pair.split("=", 1)[0] ?? "") ?? "";
  const isName = name !== "" && name.length < MAX_NAME;
  throw invalidField(isName ? name : "query", "is not validly percent-encoded");
}

/** `undefined` where it is not validly percent-encoded. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
