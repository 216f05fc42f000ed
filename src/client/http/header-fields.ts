/** What {@link HeaderFields} are made of. */
export type FieldsInit = Readonly<Record<string, string>> | Iterable<readonly [string, string]>;

/** The characters of a field name (RFC 9110 §5.6.2). */
const NAME = /^[!#$%&'*+\-.^_`|~\w]+$/;
/** A field value: no control characters that could end the field, and only bytes. */
// oxlint-disable-next-line no-control-regex -- these are the characters that must not get into a request
const VALUE = /^[^\0\r\n\u{100}-\u{10ffff}]*$/u;
const EDGES = /^[\t\n\r ]+|[\t\n\r ]+$/g;

/**
 * Header fields with the members of `Headers`. In Node, the first `new Headers()` compiles the whole of `fetch`, which takes longer than a short
 * command otherwise needs.
 */
export class HeaderFields implements Headers {
  /** By name in lower case. */
  readonly #fields = new Map<string, string>();
  readonly #cookies: string[] = [];

  constructor(init: FieldsInit = {}) {
    const entries = Symbol.iterator in init ? init : Object.entries(init);
    for (const [name, value] of entries) this.append(name, value);
  }

  append(name: string, value: string): void {
    const key = nameOf(name);
    const text = checkedValue(value);
    const before = this.#fields.get(key);
    this.#fields.set(key, before === undefined ? text : `${before}, ${text}`);
    if (key === "set-cookie") this.#cookies.push(text);
  }

  set(name: string, value: string): void {
    const key = nameOf(name);
    const text = checkedValue(value);
    this.#fields.set(key, text);
    if (key === "set-cookie") this.#cookies.splice(0, Number.POSITIVE_INFINITY, text);
  }

  get(name: string): string | null {
    return this.#fields.get(nameOf(name)) ?? null;
  }

  has(name: string): boolean {
    return this.#fields.has(nameOf(name));
  }

  delete(name: string): void {
    const key = nameOf(name);
    this.#fields.delete(key);
    if (key === "set-cookie") this.#cookies.length = 0;
  }

  getSetCookie(): string[] {
    return [...this.#cookies];
  }

  /** Sorted by name; each cookie on its own. */
  *entries(): Generator<[string, string], undefined> {
    for (const [name, value] of [...this.#fields].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
      if (name === "set-cookie") for (const cookie of this.#cookies) yield [name, cookie];
      else yield [name, value];
    }
  }

  *keys(): Generator<string, undefined> {
    for (const [name] of this.entries()) yield name;
  }

  *values(): Generator<string, undefined> {
    for (const [, value] of this.entries()) yield value;
  }

  forEach(use: (value: string, name: string, fields: Headers) => void, thisArg?: unknown): void {
    for (const [name, value] of this.entries()) use.call(thisArg, value, name, this);
  }

  [Symbol.iterator](): Generator<[string, string], undefined> {
    return this.entries();
  }
}

function nameOf(name: string): string {
  if (!NAME.test(name)) throw new TypeError(`${JSON.stringify(name)} is not a name of a header.`);
  return name.toLowerCase();
}

/** The error does not show the value, which may be secret. */
function checkedValue(value: string): string {
  const text = String(value).replaceAll(EDGES, "");
  if (!VALUE.test(text)) throw new TypeError("A header value contains a line break or a character above U+00FF.");
  return text;
}
