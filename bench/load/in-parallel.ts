/** Calls `make` so many times, by some callers at once; each starts its next call when the last one has ended. */
export async function inParallel<T>(count: number, make: (index: number) => Promise<T>, callers = 32): Promise<T[]> {
  const made: T[] = [];
  let begun = 0;
  const worker = async () => {
    while (begun < count) {
      const index = begun;
      begun += 1;
      made.push(await make(index));
    }
  };
  await Promise.all(Array.from({ length: callers }, worker));
  return made;
}
