/** How requests of 0.x are read. */
export interface Parsing {
  /** The member that tells what a part is. */
  readonly tag: "kind" | "type";
  /** Whether what the version does not allow, but can be understood, is understood. */
  readonly lenient: boolean;
}

/** As most servers want it. */
export const LENIENT: Parsing = { tag: "kind", lenient: true };

/** How a server with this setting reads versions whose parts have a `kind`. */
export function parsingOf({ lenient }: { readonly lenient: boolean | undefined }): Parsing {
  return lenient === false ? { tag: "kind", lenient: false } : LENIENT;
}
