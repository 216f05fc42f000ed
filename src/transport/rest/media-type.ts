const MAX_RANGES = 32;

/** What a caller says of the types it reads and sends. */
export interface MediaTypeWishes {
  readonly accept: string | undefined;
  /** What the request itself came as. */
  readonly contentType: string | undefined;
}

/**
 * The type to answer with, out of those offered, the usual one first: the one `Accept` names and likes best, else the one the
 * request came as, else the usual one. Wildcards express no preference, and nobody is refused for accepting none.
 */
export function answerMediaType(offered: readonly [string, ...string[]], wishes: MediaTypeWishes): string {
  const { accept, contentType } = wishes;
  const named = accept === undefined || accept === "*/*" ? undefined : preferred(offered, accept);
  if (named !== undefined) return named;
  const own = contentType === undefined ? undefined : known(offered, contentType);
  return own ?? offered[0];
}

/** The offered type with the highest weight; of equals, the one named first. */
function preferred(offered: readonly string[], accept: string): string | undefined {
  let best: string | undefined;
  let bestWeight = 0;
  for (const range of accept.split(",", MAX_RANGES)) {
    const type = known(offered, range);
    if (type === undefined) continue;
    const weight = weightOf(range);
    if (weight <= bestWeight) continue;
    best = type;
    bestWeight = weight;
  }
  return best;
}

/** The offered type that this names, its parameters aside. */
function known(offered: readonly string[], text: string): string | undefined {
  const end = text.indexOf(";");
  const name = (end === -1 ? text : text.slice(0, end)).trim().toLowerCase();
  return offered.find((type) => type === name);
}

/** From 0 to 1. What is no weight counts as none given. */
function weightOf(range: string): number {
  const [, weight] = /;\s*q=([01](?:\.\d{0,3})?)\s*(?:;|$)/i.exec(range) ?? [];
  return weight === undefined ? 1 : Math.min(Number(weight), 1);
}
