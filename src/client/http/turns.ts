/** After so many steps without a pause other work of the program gets its turn. */
const STEPS = 512;

/**
 * Counts the steps of a loop that may run long on promises alone. Those do not let timers and other events run: a burst of events
 * from a fast server would hold up the whole program, and with it the abort of the signal.
 */
export class Turns {
  readonly #signal: AbortSignal;
  #steps = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** One step more. Throws the signal's reason once that is aborted. `undefined`: go on at once. */
  step(): Promise<void> | undefined {
    if (this.#signal.aborted) throw this.#signal.reason;
    return ++this.#steps % STEPS === 0 ? this.#pause() : undefined;
  }

  async #pause(): Promise<void> {
    await macrotask();
    this.#signal.throwIfAborted();
  }
}

/** Resolves in a later turn of the event loop. A timer would take some milliseconds in browsers. */
function macrotask(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.addEventListener("message", () => {
      port1.close();
      resolve();
    });
    port1.start();
    port2.postMessage(undefined);
  });
}
