import { invalidField } from "../../protocol/error.ts";

/** Characters of a parameter's name that an error repeats; no parameter has a longer name. */
const MAX_NAME = 64;

/** Parses the query. Throws `invalid-params` with the parameter's name if its percent-encoding is invalid, which `URLSearchParams` would misread. */
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

/** Decodes percent-encoding; `undefined` if it is invalid. */
export function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
