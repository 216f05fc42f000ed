import type { A2AError } from "../protocol/error.ts";

/** What `WWW-Authenticate` says of an error; `undefined`: nothing. Whoever is not known is told how to say who it is. */
export function challengesOf({ code, challenges }: A2AError): string | undefined {
  if (challenges.length > 0) return challenges.join(", ");
  return code === "unauthenticated" ? "Bearer" : undefined;
}
