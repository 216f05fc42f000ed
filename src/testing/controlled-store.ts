import { createDeferred, type Deferred } from "../internal/deferred.ts";
import type { CommitKey, Outcome, StoreOperation } from "../store/contract.ts";
import { type StoreMethod, StoreWrapper } from "../store/store-wrapper.ts";

/**
 * One engine's handle on a store that several engines may share. A test can hold commits, make them fail, or cut the handle off as if the
 * process had died, and can read the operations of every commit.
 */
export class ControlledStore extends StoreWrapper {
  /** The operations of every commit that reached the store or failed, in order. Retries are listed again. */
  readonly commits: (readonly StoreOperation[])[] = [];
  /** The outcome of every operation, in order. */
  readonly outcomes: Outcome["status"][] = [];
  readonly #failures: unknown[] = [];
  #failAlways: unknown;
  #hold: { readonly released: Deferred<void>; readonly applied: boolean } | undefined;
  #heldCommits = 0;
  #reads = 0;
  #cut = false;

  /** The number of commits that wait for `release`. */
  get held(): number {
    return this.#heldCommits;
  }

  /** The number of calls of `log`. */
  get logReads(): number {
    return this.#reads;
  }

  /** Commits wait until `release`. With `applied` the store applies them first, and only the answer waits. */
  hold(options: { readonly applied?: boolean } = {}): void {
    this.#hold ??= { released: createDeferred<void>(), applied: options.applied === true };
  }

  release(): void {
    this.#hold?.released.resolve();
    this.#hold = undefined;
  }

  /** The next commits reject, each with the next of these errors. */
  failNext(...errors: readonly unknown[]): void {
    this.#failures.push(...errors);
  }

  /** All commits and heartbeats reject with this error; `undefined` stops that. */
  failAlways(error: unknown): void {
    this.#failAlways = error;
  }

  /** From now on calls of this handle change nothing and never settle. */
  cut(): void {
    this.#cut = true;
    this.#hold = undefined;
  }

  override async commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
    const hold = this.#hold;
    if (hold !== undefined && !hold.applied) await this.#untilReleased(hold.released);
    if (this.#cut) return never();
    this.commits.push(operations);
    const failure = this.#failures.shift() ?? this.#failAlways;
    if (failure !== undefined) throw failure;
    const outcomes = await super.commit(operations, key);
    for (const { status } of outcomes) this.outcomes.push(status);
    if (hold?.applied === true) await this.#untilReleased(hold.released);
    return this.#cut ? never() : outcomes;
  }

  async #untilReleased(released: Deferred<void>): Promise<void> {
    this.#heldCommits += 1;
    await released.promise;
    this.#heldCommits -= 1;
  }

  override close(): Promise<void> {
    return Promise.resolve();
  }

  protected override async around<T>(method: StoreMethod, call: () => Promise<T>): Promise<T> {
    if (this.#cut) return never();
    if (method === "log") this.#reads += 1;
    if (method === "heartbeat" && this.#failAlways !== undefined) throw this.#failAlways;
    const answer = await call();
    return this.#cut ? never() : answer;
  }
}

/** The answer that a dead process gets: none. */
function never(): Promise<never> {
  return new Promise(() => {});
}
