/** The content of a member: a scalar, any JSON, an object of a known shape, or a list of those. */
type Content = "plain" | "any" | { readonly one: string } | { readonly many: string };

/** The objects of one dialect: the allowed and the required members of each, by name. */
export interface Shapes {
  readonly members: Readonly<Record<string, Readonly<Record<string, Content>>>>;
  readonly required: Readonly<Record<string, readonly string[]>>;
}

/** The faults of an object, member by member; empty if it is valid. */
export function faultsOf(shapes: Shapes, name: string, { value, path }: Place): readonly string[] {
  const members = shapes.members[name];
  if (members === undefined) return [`${path} should be ${name}, whatever that is`];
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${path} is not an object`];
  const missing = (shapes.required[name] ?? []).filter((member) => !(member in value));
  const faults = missing.map((member) => `${path}.${member} is missing`);
  for (const [member, content] of Object.entries(value)) {
    const expected = members[member];
    const place = { value: content, path: `${path}.${member}` };
    if (expected === undefined) faults.push(`${place.path} is unknown`);
    else faults.push(...contentFaults(shapes, expected, place));
  }
  return faults;
}

interface Place {
  readonly value: unknown;
  readonly path: string;
}

function contentFaults(shapes: Shapes, expected: Content, { value, path }: Place): readonly string[] {
  if (expected === "any") return [];
  if (value === null) return [`${path} is null`];
  if (expected === "plain") return typeof value === "object" ? [`${path} is not plain`] : [];
  if ("one" in expected) return faultsOf(shapes, expected.one, { value, path });
  if (!Array.isArray(value)) return [`${path} is not a list`];
  return value.flatMap((each: unknown, index) =>
    faultsOf(shapes, expected.many, { value: each, path: `${path}[${index}]` }),
  );
}

/** Members with scalars. */
export function plain(...names: readonly string[]): Readonly<Record<string, Content>> {
  return Object.fromEntries(names.map((name) => [name, "plain"]));
}

/** Members with any JSON. */
export function any(...names: readonly string[]): Readonly<Record<string, Content>> {
  return Object.fromEntries(names.map((name) => [name, "any"]));
}

export const one = (name: string): Content => ({ one: name });
export const many = (name: string): Content => ({ many: name });
