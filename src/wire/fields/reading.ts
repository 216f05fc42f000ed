/** How requests of 0.x are read. */
export interface Reading {
  /** The member that tells what a part is. */
  readonly tag: "kind" | "type";
  /** Whether what the version does not allow, but can be understood, is understood. */
  readonly liberal: boolean;
}

/** As most servers want it. */
export const LIBERAL: Reading = { tag: "kind", liberal: true };

/** How a server with this setting reads versions whose parts have a `kind`. */
export function readingOf({ lenient }: { readonly lenient: boolean | undefined }): Reading {
  return lenient === false ? { tag: "kind", liberal: false } : LIBERAL;
}
