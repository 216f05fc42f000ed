/** The bindings between client and server, named as in agent cards. */
export const BINDINGS = { JSONRPC: "JSON-RPC", "HTTP+JSON": "REST", GRPC: "gRPC" } as const;
export type Binding = keyof typeof BINDINGS;

/** A published library in one version: the data of a column of the matrix. */
export interface Line<Ability extends string> {
  /** The published package name. */
  readonly package: string;
  /** The exact installed version. */
  readonly version: string;
  /** The protocol version that it supports. */
  readonly protocol: string;
  readonly bindings: readonly Binding[];
  /** The reasons for missing features: over any binding, or over one. */
  readonly lacks: { readonly [ability in Ability]?: string | { readonly [binding in Binding]?: string } };
}

/** A use of a library with its expected result: one row of the matrix. */
export interface Scenario<Setup, Ability extends string> {
  readonly operation: string;
  /** Libraries that lack this feature are skipped, and the matrix shows the reason. */
  readonly needs?: Ability;
  run(setup: Setup): Promise<void>;
}

export interface ScenarioGroup<Setup, Ability extends string> {
  readonly title: string;
  readonly scenarios: readonly Scenario<Setup, Ability>[];
}

/** The reason why a library cannot do something; `undefined` if it can. */
export function whyNot<Ability extends string>(
  line: Line<Ability>,
  binding: Binding,
  ability: Ability | undefined,
): string | undefined {
  if (ability === undefined) return undefined;
  const reason = line.lacks[ability];
  return typeof reason === "string" ? reason : reason?.[binding];
}
