import type { TaskState } from "../../protocol/state.ts";
import type { CommitKey, Outcome, Store, StoreOperation } from "../../store/contract.ts";
import { StoreWrapper } from "../../store/store-wrapper.ts";
import type { CommittedFacts, ServerMetrics } from "../../telemetry/metrics/server-metrics.ts";

/** Measures the commits and the lease renewals of a server. */
export class MeasuredStore extends StoreWrapper {
  readonly #store: Store;
  readonly #metrics: ServerMetrics;
  #renewedAt: number | undefined;

  constructor(store: Store, metrics: ServerMetrics) {
    super(store);
    this.#store = store;
    this.#metrics = metrics;
  }

  /** Milliseconds since the lease was renewed; `undefined` if it was not yet. */
  get leaseAge(): number | undefined {
    return this.#renewedAt === undefined ? undefined : performance.now() - this.#renewedAt;
  }

  protected override around<T>(_method: string, call: () => Promise<T>): Promise<T> {
    return call();
  }

  override async commit(operations: readonly StoreOperation[], key?: CommitKey): Promise<readonly Outcome[]> {
    const began = performance.now();
    try {
      const outcomes = await this.#store.commit(operations, key);
      this.#metrics.committed(factsOf(operations, outcomes, performance.now() - began));
      return outcomes;
    } catch (error) {
      this.#metrics.commitFailed();
      throw error;
    }
  }

  override async heartbeat(node: string, leaseMs: number): Promise<{ readonly now: number }> {
    const result = await this.#store.heartbeat(node, leaseMs);
    this.#renewedAt = performance.now();
    return result;
  }
}

const NONE: readonly TaskState[] = [];

function factsOf(
  operations: readonly StoreOperation[],
  outcomes: readonly Outcome[],
  durationMs: number,
): CommittedFacts {
  let logLength = 0;
  let created = 0;
  let ended: TaskState[] | undefined;
  for (let index = 0; index < operations.length; index += 1) {
    const operation = operations[index];
    const status = outcomes[index]?.status;
    // With `inbox`, everything but the end was applied.
    if (operation?.kind !== "write" || (status !== "ok" && status !== "inbox")) continue;
    for (const { body } of operation.entries) logLength += body.length;
    if (operation.create !== undefined) created += 1;
    if (operation.end === undefined || status === "inbox") continue;
    logLength += operation.end.entry.body.length;
    ended ??= [];
    ended.push(operation.end.head.state);
  }
  return { operations: operations.length, durationMs, logLength, created, ended: ended ?? NONE };
}
