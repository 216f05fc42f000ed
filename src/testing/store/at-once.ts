import type { Outcome, Store, StoreOperation } from "../../store/contract.ts";

/** How often each race is tried. */
export const ROUNDS = 20;

/** Calls both at the same time, in even rounds the first one first, and returns their results. */
export async function atOnce<A, B>(round: number, first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> {
  if (round % 2 === 0) return Promise.all([first(), second()]);
  const started = second();
  return Promise.all([first(), started]);
}

/** The outcomes of two operations, each in a commit of its own, that are committed at the same time over two connections. */
export async function commitAtOnce(
  { store, second }: { readonly store: Store; readonly second: Store },
  round: number,
  operations: readonly [StoreOperation, StoreOperation],
): Promise<readonly [Outcome, Outcome]> {
  const commit = async (handle: Store, operation: StoreOperation): Promise<Outcome> => {
    const [outcome] = await handle.commit([operation]);
    if (outcome === undefined) throw new Error("A commit of one operation returned no outcome.");
    return outcome;
  };
  const [first, other] = operations;
  return atOnce(
    round,
    () => commit(store, first),
    () => commit(second, other),
  );
}

/** The statuses of both outcomes, sorted: races must not assume which one wins. */
export function statusesOf(outcomes: readonly Outcome[]): string[] {
  return outcomes.map(({ status }) => status).sort();
}
