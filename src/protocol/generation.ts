/**
 * How callers count the changes of a task: 1 when it is created, then one more with each event. The log counts the events themselves, so the
 * generation is always one more than the seq.
 */
export function generationOf(seq: number): number {
  return seq + 1;
}

/** Reverses {@link generationOf}. -1 for the generation 0, which no task has. */
export function seqOfGeneration(generation: number): number {
  return generation - 1;
}
