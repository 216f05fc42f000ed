/** Values of model calls that JSON cannot hold: bytes, times, URLs and errors. Each becomes an object with one member. */
const BYTES = "$bytes";
const DATE = "$date";
const URL_MEMBER = "$url";
const ERROR = "$error";

/** `{ data: Uint8Array [1, 2] }` becomes `{"data":{"$bytes":"AQI="}}`. */
export function writeRecorded(value: unknown, indent?: number): string {
  return JSON.stringify(encoded(value), undefined, indent);
}

/** Reverses `writeRecorded`, for a value that was parsed already. */
export function decoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decoded);
  if (typeof value !== "object" || value === null) return value;
  const [[key, content] = ["", undefined], ...others] = Object.entries(value);
  if (others.length === 0 && typeof content === "string") {
    if (key === BYTES) return Uint8Array.from(Buffer.from(content, "base64"));
    if (key === DATE) return new Date(content);
    if (key === URL_MEMBER) return new URL(content);
    if (key === ERROR) return new Error(content);
  }
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, decoded(member)]));
}

/** Members are sorted, so that equal calls have equal texts. Functions and `undefined` are left out. */
function encoded(value: unknown): unknown {
  if (Array.isArray(value)) return value.map((item) => encoded(item) ?? null);
  if (typeof value === "function" || typeof value === "symbol") return undefined;
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Uint8Array) return { [BYTES]: Buffer.from(value).toString("base64") };
  if (value instanceof Date) return { [DATE]: value.toISOString() };
  if (value instanceof URL) return { [URL_MEMBER]: value.href };
  if (value instanceof Error) return { [ERROR]: value.message };
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, member]) => [name, encoded(member)]));
}
