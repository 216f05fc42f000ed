import { type CommitKey, type Outcome, type Store, StoreError, type StoreOperation } from "../../store/contract.ts";
import { type StoreMethod, StoreWrapper } from "../../store/store-wrapper.ts";
import { turns } from "../engine-harness.ts";

/** A store that breaks one rule of the contract, and the cases that must fail because of it. */
export interface Mutant {
  /** What the store does wrong. */
  readonly name: string;
  readonly open: (inner: Store) => Store;
  /** How the names of the cases that fail begin: all of them. */
  readonly failing: readonly string[];
}

/** A store that passes every call to another one. */
export class PassingStore extends StoreWrapper {
  protected override around<T>(_method: StoreMethod, call: () => Promise<T>): Promise<T> {
    return call();
  }
}

/** Applies one operation wrongly. `undefined`: it is applied as the contract says. */
export type Apply = (operation: StoreOperation, inner: Store) => Promise<Outcome> | undefined;

/** A store that applies some operations wrongly. It applies the operations of a commit one after the other. */
export function withOperations(apply: Apply): (inner: Store) => Store {
  return (inner) => new OperationMutant(inner, apply);
}

class OperationMutant extends PassingStore {
  readonly #inner: Store;
  readonly #apply: Apply;
  /** The last commit of each writer. */
  readonly #keyed = new Map<string, { readonly n: number; readonly outcomes: Promise<readonly Outcome[]> }>();

  constructor(inner: Store, apply: Apply) {
    super(inner);
    this.#inner = inner;
    this.#apply = apply;
  }

  override async commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
    if (key === undefined) return this.#each(operations);
    const { writer, n } = key;
    const last = this.#keyed.get(writer);
    if (last !== undefined && n < last.n) throw new StoreError("lost", "The commit arrived late.");
    if (n === last?.n) return last.outcomes;
    const outcomes = this.#each(operations);
    this.#keyed.set(writer, { n, outcomes });
    return outcomes;
  }

  async #each(operations: readonly StoreOperation[]): Promise<readonly Outcome[]> {
    if (operations.length === 0) return this.#inner.commit([]);
    const outcomes: Outcome[] = [];
    for (const operation of operations)
      outcomes.push(await (this.#apply(operation, this.#inner) ?? applyTo(this.#inner, operation)));
    return outcomes;
  }
}

export async function applyTo(store: Store, operation: StoreOperation): Promise<Outcome> {
  const [outcome] = await store.commit([operation]);
  if (outcome === undefined) throw new Error("A commit of one operation returned no outcome.");
  return outcome;
}

/** The time between a check and the write that relies on it. */
export function pause(): Promise<void> {
  return turns(2);
}
