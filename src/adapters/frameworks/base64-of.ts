/** Bytes as base64. A string is base64 already. */
export function base64Of(data: string | Uint8Array): string {
  return typeof data === "string" ? data : Buffer.from(data).toString("base64");
}
