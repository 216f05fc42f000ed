import { A2AError } from "../../protocol/error.ts";
import type { CredentialSource } from "./contract.ts";
import { CredentialsRefused, type RefusalReason } from "./refusal.ts";

/** The most characters of credentials; longer ones are refused unread. */
const MAX_CREDENTIALS = 16_384;

/** The error for all invalid credentials. Its message does not say what is wrong, which would help guessing; its cause does, for the log. */
export function badCredentials(reason: RefusalReason, cause?: unknown): A2AError {
  return new A2AError("unauthenticated", "Invalid credentials", { cause: new CredentialsRefused(reason, { cause }) });
}

/** The error for credentials that cannot be verified now, for example because the issuer is unreachable. */
export function cannotVerify(cause?: unknown): A2AError {
  return new A2AError("unavailable", "Credentials cannot be verified now", { cause });
}

/**
 * The credentials of one HTTP scheme in `Authorization`; `undefined` if the request has another scheme or none. Two headers of that name
 * arrive joined by a comma, which no scheme here allows: they are invalid.
 */
export function credentialsByScheme({ headers }: CredentialSource, scheme: string): string | undefined {
  const header = headers.get("authorization");
  if (header === null) return undefined;
  const space = header.indexOf(" ");
  const name = space === -1 ? header : header.slice(0, space);
  if (name.toLowerCase() !== scheme.toLowerCase()) return undefined;
  const value = space === -1 ? "" : header.slice(space).trim();
  if (value.length > MAX_CREDENTIALS || !/^[\w.~+/-]+=*$/.test(value)) throw badCredentials("malformed");
  return value;
}

/** Where an API key is in a request. */
export interface KeyPlace {
  readonly in: "header" | "query" | "cookie";
  readonly name: string;
}

/** The value of a header, a query parameter or a cookie; `undefined` if absent. A value that occurs twice is invalid. */
export function credentialAt(request: CredentialSource, place: KeyPlace): string | undefined {
  const values = valuesAt(request, place);
  const [value] = values;
  if (value === undefined) return undefined;
  if (values.length > 1 || value === "" || value.length > MAX_CREDENTIALS) throw badCredentials("malformed");
  return value;
}

/** All values: two headers of the same name arrive joined by a comma. */
function valuesAt({ headers, url }: CredentialSource, { in: place, name }: KeyPlace): readonly string[] {
  switch (place) {
    case "header":
      return headers.get(name)?.trim().split(/,\s*/) ?? [];
    case "query": {
      const query = url.indexOf("?");
      return query === -1 ? [] : new URLSearchParams(url.slice(query)).getAll(name);
    }
    case "cookie":
      return (headers.get("cookie") ?? "").split(";").flatMap((pair) => {
        const equals = pair.indexOf("=");
        return equals !== -1 && pair.slice(0, equals).trim() === name ? [pair.slice(equals + 1).trim()] : [];
      });
  }
}
