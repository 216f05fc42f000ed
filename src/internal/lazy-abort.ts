/** An abort that costs nothing until somebody looks at its signal. */
export class LazyAbort {
  #controller: AbortController | undefined;
  #reason: Error | undefined;

  get reason(): Error | undefined {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (this.#controller === undefined) {
      this.#controller = new AbortController();
      if (this.#reason !== undefined) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason stays. */
  abort(reason: Error): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  throwIfAborted(): void {
    if (this.#reason !== undefined) throw this.#reason;
  }
}
