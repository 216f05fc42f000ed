/** No honest signer needs more levels, and the stack holds far more. */
const MAX_DEPTH = 100;

/**
 * The canonical text of a JSON value (RFC 8785), over which signatures are computed: no white space, members ordered by the UTF-16 units of
 * their names, numbers and strings as ECMAScript writes them. `{ b: 1, a: [true] }` becomes `{"a":[true],"b":1}`. Throws a `TypeError` for
 * values without canonical text: numbers that are not finite, strings that are not well-formed Unicode, values that are not JSON, and more
 * than 100 levels of nesting.
 */
export function canonicalJson(value: unknown): string {
  return writeValue(value, 1);
}

/** `JSON.stringify` writes numbers and strings exactly as RFC 8785 §3.2.2 requires; only the order of members and the checks are added. */
function writeValue(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw new TypeError(`JSON with more than ${MAX_DEPTH} levels of nesting cannot be signed.`);
  switch (typeof value) {
    case "string":
      return writeText(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError("A number that is not finite cannot be written as JSON.");
      return JSON.stringify(value);
    case "boolean":
      return String(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? writeList(value, depth) : writeObject(value, depth);
    default:
      throw new TypeError(`A value of type ${typeof value} cannot be written as JSON.`);
  }
}

function writeText(text: string): string {
  if (!text.isWellFormed())
    throw new TypeError("Text that is not well-formed Unicode cannot be written as canonical JSON.");
  return JSON.stringify(text);
}

function writeList(list: readonly unknown[], depth: number): string {
  return `[${list.map((item) => writeValue(item, depth + 1)).join(",")}]`;
}

function writeObject(object: object, depth: number): string {
  // `sort` compares UTF-16 units, as RFC 8785 §3.2.3 requires.
  const members = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${writeText(name)}:${writeValue(member, depth + 1)}`).join(",")}}`;
}
