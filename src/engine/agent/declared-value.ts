/** An object that is not an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A string that is not blank. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

/** An absolute URL. */
export function isUrl(value: unknown): value is string {
  return typeof value === "string" && URL.canParse(value);
}
