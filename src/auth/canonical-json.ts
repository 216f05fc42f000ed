/** Deeper than anything that is signed by people who mean well, and far from what the stack holds. */
const MAX_DEPTH = 100;

/**
 * The one spelling of a JSON value that signatures are made of, by RFC 8785: no white space, members in the order of their names'
 * UTF-16 units, numbers and strings as ECMAScript writes them. Throws a `TypeError` for what has no such spelling: numbers that are
 * not finite, text that is not well-formed Unicode, and values that are no JSON.
 */
export function canonicalJson(value: unknown): string {
  return spell(value, 1);
}

function spell(value: unknown, depth: number): string {
  if (depth > MAX_DEPTH) throw new TypeError(`JSON that nests deeper than ${MAX_DEPTH} levels is not signed.`);
  switch (typeof value) {
    case "string":
      return spellText(value);
    case "number":
      if (!Number.isFinite(value)) throw new TypeError("A number that is not finite has no JSON.");
      return JSON.stringify(value);
    case "boolean":
      return String(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? spellList(value, depth) : spellObject(value, depth);
    default:
      throw new TypeError(`A value of type ${typeof value} has no JSON.`);
  }
}

function spellText(text: string): string {
  if (!text.isWellFormed()) throw new TypeError("Text that is not well-formed Unicode has no canonical JSON.");
  return JSON.stringify(text);
}

function spellList(list: readonly unknown[], depth: number): string {
  return `[${list.map((item) => spell(item, depth + 1)).join(",")}]`;
}

function spellObject(object: object, depth: number): string {
  // The order of `sort` is that of UTF-16 units, which is the one asked for.
  const members = Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${spellText(name)}:${spell(member, depth + 1)}`).join(",")}}`;
}
