/** Codes of JSON-RPC errors that this client makes itself, in the range that servers may use. */
export const CONNECTION_LOST = -32_097;
export const MESSAGE_TOO_LARGE = -32_098;

/** An event with an error as the result of the request with this body; it ends the event that was broken off. `undefined` if the body is not a request. */
export function lostReply(body: unknown, code: number): Uint8Array | undefined {
  if (typeof body !== "string") return undefined;
  const { id } = JSON.parse(body) as { readonly id?: unknown };
  if (id === undefined) return undefined;
  const reply = { jsonrpc: "2.0", id, error: { code, message: "The stream was broken off." } };
  return new TextEncoder().encode(`\n\ndata: ${JSON.stringify(reply)}\n\n`);
}
