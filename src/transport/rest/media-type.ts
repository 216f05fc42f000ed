const MAX_RANGES = 32;

/** The media types that a caller accepts and sends. */
export interface MediaTypeWishes {
  readonly accept: string | undefined;
  /** The `Content-Type` of the request. */
  readonly contentType: string | undefined;
}

/**
 * The media type of the answer, one of `offered`: the one that `Accept` prefers, else the request's own, else the first. Wildcards express no
 * preference, and a request that accepts none of them is not refused.
 */
export function answerMediaType(offered: readonly [string, ...string[]], wishes: MediaTypeWishes): string {
  const { accept, contentType } = wishes;
  const named = accept === undefined || accept === "*/*" ? undefined : preferred(offered, accept);
  if (named !== undefined) return named;
  const own = contentType === undefined ? undefined : known(offered, contentType);
  return own ?? offered[0];
}

/** The offered type with the highest weight; of equal ones, the first in `Accept`. */
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

/** The offered type with this name, ignoring parameters. */
function known(offered: readonly string[], text: string): string | undefined {
  const end = text.indexOf(";");
  const name = (end === -1 ? text : text.slice(0, end)).trim().toLowerCase();
  return offered.find((type) => type === name);
}

/** The weight from 0 to 1; 1 if absent or invalid. */
function weightOf(range: string): number {
  const [, weight] = /;\s*q=([01](?:\.\d{0,3})?)\s*(?:;|$)/i.exec(range) ?? [];
  return weight === undefined ? 1 : Math.min(Number(weight), 1);
}
