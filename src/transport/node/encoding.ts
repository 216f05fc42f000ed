/** ASCII text has the same bytes in both encodings, and Node writes `latin1` much faster. */
export function encodingOf(text: string, byteLength: number): "latin1" | "utf8" {
  return text.length === byteLength ? "latin1" : "utf8";
}
