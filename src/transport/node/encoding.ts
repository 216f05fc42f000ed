/** Text that is all ASCII is the same bytes in both encodings, and node writes this one much faster. */
export function encodingOf(text: string, byteLength: number): "latin1" | "utf8" {
  return text.length === byteLength ? "latin1" : "utf8";
}
