/** Untyped JSON, read member by member. */
export type Json = any;

/** The elements of an array; none if the value is not an array. */
export function elementsOf(value: Json): readonly Json[] {
  return Array.isArray(value) ? value : [];
}

/** The texts of 0.2 and 0.3 parts. */
export function textsIn(parts: Json): readonly string[] {
  return elementsOf(parts)
    .filter((part) => part.kind === "text")
    .map((part) => String(part.text));
}

/** The bytes, in base64, of 0.2 and 0.3 file parts. */
export function bytesIn(parts: Json): readonly string[] {
  return elementsOf(parts)
    .filter((part) => part.kind === "file" && typeof part.file.bytes === "string")
    .map((part) => String(part.file.bytes));
}
