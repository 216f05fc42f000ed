/** Pseudo-random numbers from 0 to 1, deterministic for the seed. */
export function seededRandom(seed: number): () => number {
  let state = (seed % 2_147_483_646) + 1;
  return () => {
    state = (state * 48_271) % 2_147_483_647;
    return state / 2_147_483_647;
  };
}
