import type { CommitKey, Outcome, Store, StoreOperation } from "../../store/contract.ts";
import { type StoreMethod, StoreWrapper } from "../../store/store-wrapper.ts";

/** An engine's handle on the store. After `cut`, its calls change nothing and never settle, as if the process had died. */
export class CrashingStore extends StoreWrapper {
  readonly #onWrite: () => void;
  #isCut = false;

  /** `onWrite`: called when a commit that changes a task is stored, before any reader gets it. */
  constructor(store: Store, onWrite: () => void) {
    super(store);
    this.#onWrite = onWrite;
  }

  cut(): void {
    this.#isCut = true;
  }

  override async commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
    const outcomes = await super.commit(operations, key);
    if (operations.some(({ kind }) => kind === "write" || kind === "post")) this.#onWrite();
    return this.#isCut ? never() : outcomes;
  }

  /** Engines share the store: the test closes it. */
  override close(): Promise<void> {
    return Promise.resolve();
  }

  protected override async around<T>(_method: StoreMethod, call: () => Promise<T>): Promise<T> {
    if (this.#isCut) return never();
    const answer = await call();
    return this.#isCut ? never() : answer;
  }
}

/** The answer that a dead process gets: none. */
function never(): Promise<never> {
  return new Promise(() => {});
}
