/** How a client and a server talk. The names are those of agent cards. */
export const BINDINGS = { JSONRPC: "JSON-RPC", "HTTP+JSON": "REST" } as const;
export type Binding = keyof typeof BINDINGS;

/** A library that others publish, in one version: what a column of the matrix needs to know of it. */
export interface Line<Ability extends string> {
  /** The package, as it is published. */
  readonly package: string;
  /** Exactly, as installed. */
  readonly version: string;
  /** The protocol it speaks. */
  readonly protocol: string;
  readonly bindings: readonly Binding[];
  /** Why it cannot do something: over any binding, or over one. */
  readonly lacks: { readonly [ability in Ability]?: string | { readonly [binding in Binding]?: string } };
}

/** Something that is done with a library, and what must come of it. One row of the matrix. */
export interface Scenario<Stage, Ability extends string> {
  readonly operation: string;
  /** Libraries that lack this are left out, and the matrix says why. */
  readonly needs?: Ability;
  run(stage: Stage): Promise<void>;
}

export interface ScenarioGroup<Stage, Ability extends string> {
  readonly title: string;
  readonly scenarios: readonly Scenario<Stage, Ability>[];
}

/** Why a library cannot do something; `undefined` if it can. */
export function whyNot<Ability extends string>(
  line: Line<Ability>,
  binding: Binding,
  ability: Ability | undefined,
): string | undefined {
  if (ability === undefined) return undefined;
  const reason = line.lacks[ability];
  return typeof reason === "string" ? reason : reason?.[binding];
}
