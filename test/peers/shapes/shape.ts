/** What a member may hold: a scalar, any JSON, an object of a known shape, or a list of those. */
type Content = "plain" | "any" | { readonly one: string } | { readonly many: string };

/** The objects of one dialect: by name, what members each may have and which it must have. */
export interface Shapes {
  readonly members: Readonly<Record<string, Readonly<Record<string, Content>>>>;
  readonly required: Readonly<Record<string, readonly string[]>>;
}

/** What is wrong with an object, member by member; nothing if it is as it should be. */
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

/** Members that hold scalars. */
export function plain(...names: readonly string[]): Readonly<Record<string, Content>> {
  return Object.fromEntries(names.map((name) => [name, "plain"]));
}

/** Members that hold anything. */
export function any(...names: readonly string[]): Readonly<Record<string, Content>> {
  return Object.fromEntries(names.map((name) => [name, "any"]));
}

export const one = (name: string): Content => ({ one: name });
export const many = (name: string): Content => ({ many: name });
