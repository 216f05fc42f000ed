/** What LangGraph reports about a node that begins. */
interface NodeMetadata {
  /** The number of the superstep. The checkpoint before it has the number before. */
  readonly langgraph_step?: number;
  /** The place of the node; those of subgraphs contain `|`. */
  readonly langgraph_checkpoint_ns?: string;
}

/**
 * Holds the nodes of a superstep back until the checkpoint before it is stored with the task. Otherwise the graph would run ahead of what is stored,
 * and more than one superstep would be repeated after a crash.
 */
export class SuperstepGate {
  #stored = Number.NEGATIVE_INFINITY;
  #changed = Promise.withResolvers<void>();
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener("abort", () => this.#changed.resolve(), { once: true });
  }

  /** The checkpoint with this number is stored. */
  release(step: number | undefined): void {
    if (step === undefined) return;
    this.#stored = Math.max(this.#stored, step);
    this.#changed.resolve();
    this.#changed = Promise.withResolvers();
  }

  /** A callback handler of LangChain, which waits for it. */
  get handler(): object {
    return {
      name: "palaver",
      awaitHandlers: true,
      // LangChain passes the metadata as the sixth of eight arguments.
      handleChainStart: async (...values: readonly unknown[]): Promise<void> => this.#wait(values[5]),
    };
  }

  async #wait(metadata: unknown): Promise<void> {
    // Safe cast: LangGraph adds these members to the metadata of its nodes.
    const { langgraph_step: step, langgraph_checkpoint_ns: place = "" } = (metadata ?? {}) as NodeMetadata;
    if (step === undefined || place === "" || place.includes("|")) return;
    while (step - 1 > this.#stored && !this.#signal.aborted) await this.#changed.promise;
  }
}
