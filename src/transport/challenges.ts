import type { A2AError } from "../protocol/error.ts";

/** The `WWW-Authenticate` header of an error; `undefined` if it has none. Every `unauthenticated` error has one (RFC 9110 §15.5.2). */
export function challengesOf({ code, challenges }: A2AError): string | undefined {
  if (challenges.length > 0) return challenges.join(", ");
  return code === "unauthenticated" ? "Bearer" : undefined;
}
