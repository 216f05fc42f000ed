import type { Attributes, AttributeValue, SharedAttributes } from "./span-data.ts";

type Value = AttributeValue | undefined;
type Make<Result> = (key: string, second?: Value, third?: Value) => Result;

interface Last {
  readonly second: Value;
  readonly third: Value;
  readonly attributes: SharedAttributes;
}

/** Keys whose attributes are kept. Further ones are made anew each time. */
const MAX_KEYS = 256;

/** Makes attributes of up to three values. Returns the same object again while the values of a key stay the same. */
export function sharedAttributes(make: Make<Attributes>): Make<SharedAttributes> {
  const lasts = new Map<string, Last>();
  return (key, second, third) => {
    const last = lasts.get(key);
    if (last !== undefined && last.second === second && last.third === third) return last.attributes;
    const attributes: SharedAttributes = { values: make(key, second, third), json: undefined };
    if (last !== undefined || lasts.size < MAX_KEYS) lasts.set(key, { second, third, attributes });
    return attributes;
  };
}
