/** Pseudo-random decisions that depend only on seed and name, not on their order. */
export interface Random {
  /** From 0 up to, but not including, 1. */
  next(): number;
  /** An integer; both ends are included. */
  between(least: number, most: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  pick<T>(choices: readonly [T, ...T[]]): T;
  /** Independent decisions: earlier decisions here do not change them. */
  fork(name: string): Random;
}

export function createRandom(seed: string): Random {
  let state = hash(seed);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    next,
    between,
    chance: (probability) => next() < probability,
    pick: (choices) => choices[between(0, choices.length - 1)] ?? choices[0],
    fork: (name) => createRandom(`${seed}/${name}`),
  };
}

/** A 32-bit hash of a text (FNV-1a). */
export function hash(text: string): number {
  let value = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) value = Math.imul(value ^ text.charCodeAt(index), 0x01000193);
  return value >>> 0;
}
