/** Lets a test decide when an agent continues: the agent waits at a gate, the test opens it. */
export class Gates {
  readonly #gates = new Map<string, PromiseWithResolvers<void>>();

  open(name: string): void {
    this.#gate(name).resolve();
  }

  /** Resolves when the gate is open; rejects with the signal's reason if that aborts first. */
  async pass(name: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const left = Promise.withResolvers<never>();
    const leave = () => left.reject(signal.reason as Error);
    signal.addEventListener("abort", leave, { once: true });
    try {
      await Promise.race([this.#gate(name).promise, left.promise]);
    } finally {
      signal.removeEventListener("abort", leave);
    }
  }

  #gate(name: string): PromiseWithResolvers<void> {
    const known = this.#gates.get(name);
    if (known !== undefined) return known;
    const gate = Promise.withResolvers<void>();
    this.#gates.set(name, gate);
    return gate;
  }
}
