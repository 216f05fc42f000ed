/** How requests of 0.x are parsed. */
export interface Parsing {
  /** The member that distinguishes kinds of parts: `type` in 0.1, `kind` later. */
  readonly tag: "kind" | "type";
  /** Accept common deviations from the specification. False only if the server's option `lenient` is `false`. */
  readonly lenient: boolean;
}

/** The default for 0.2 and 0.3. */
export const LENIENT: Parsing = { tag: "kind", lenient: true };

/** The parsing of 0.2 and 0.3 for a server's option `lenient`. */
export function parsingOf({ lenient }: { readonly lenient: boolean | undefined }): Parsing {
  return lenient === false ? { tag: "kind", lenient: false } : LENIENT;
}
