import { INSPECTED, SERVER_URL } from "../app/place.ts";
import { sessionToken } from "../app/session.ts";

/**
 * Sends requests to agents. Agents of this server are asked directly. A console that inspects an agent elsewhere sends them through the process that
 * serves it: the page itself makes no request to another origin.
 */
export const agentFetch: typeof fetch = INSPECTED === undefined ? (input, init) => fetch(input, init) : forwarded;

async function forwarded(input: RequestInfo | URL, init: RequestInit = {}): Promise<Response> {
  const url = input instanceof Request ? input.url : String(input);
  const { method = "GET", body, signal } = init;
  if (body !== undefined && body !== null && typeof body !== "string")
    throw new TypeError("Only text can be sent from here.");
  const token = sessionToken.peek()?.token ?? "";
  const response = await fetch(`${SERVER_URL}/operator/v1/forward`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
    body: JSON.stringify({
      ...{ url, method, headers: Object.fromEntries(new Headers(init.headers)) },
      ...(typeof body === "string" && { body }),
    }),
    ...(signal !== undefined && signal !== null && { signal }),
  });
  if (response.headers.has("x-forward-failed")) {
    const { error } = (await response.json()) as { readonly error: { readonly message: string } };
    throw new TypeError(error.message);
  }
  // The client compares the URL of an answer with the one that it asked.
  Object.defineProperty(response, "url", { value: url });
  return response;
}
