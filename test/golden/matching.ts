/**
 * Values that differ between runs are written as placeholders:
 *
 * - `$any`: any value except undefined.
 * - `$time`: a UTC time with milliseconds.
 * - `$id`: an id of the server.
 * - `$id NAME`: the same; later uses of NAME, in requests and replies, mean the same id.
 * - `{ "$oneOf": […] }`: one of these.
 */
export class Placeholders {
  readonly #ids = new Map<string, string>();

  /** Returns the expected value with placeholders replaced by the actual values that match them. */
  settle(expected: unknown, actual: unknown): unknown {
    if (typeof expected === "string") return this.#settleText(expected, actual);
    if (Array.isArray(expected)) {
      const others: readonly unknown[] = Array.isArray(actual) ? actual : [];
      return expected.map((item, index) => this.settle(item, others[index]));
    }
    if (!isObject(expected)) return expected;
    const { $oneOf: choices } = expected;
    if (Array.isArray(choices)) return choices.includes(actual) ? actual : expected;
    const other = isObject(actual) ? actual : {};
    return Object.fromEntries(Object.entries(expected).map(([key, value]) => [key, this.settle(value, other[key])]));
  }

  #settleText(expected: string, actual: unknown): unknown {
    if (expected === "$any") return actual === undefined ? expected : actual;
    if (typeof actual !== "string") return expected;
    if (expected === "$time") return TIME.test(actual) ? actual : expected;
    if (!isPlaceholder(expected) || !ID.test(actual)) return expected;
    const known = this.#ids.get(expected) ?? actual;
    if (expected !== "$id") this.#ids.set(expected, known);
    return known;
  }

  /** Returns the request with known ids in place of placeholders. */
  fill(request: unknown): unknown {
    if (typeof request === "string") return this.#ids.get(request) ?? request;
    if (Array.isArray(request)) return request.map((item) => this.fill(item));
    if (!isObject(request)) return request;
    return Object.fromEntries(Object.entries(request).map(([key, value]) => [key, this.fill(value)]));
  }
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const ID = /^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

const isPlaceholder = (text: string): boolean => text === "$id" || text.startsWith("$id ");

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
