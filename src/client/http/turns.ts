/** After this many steps without a pause, the event loop gets a turn. */
const STEPS = 512;

/**
 * Counts the steps of a loop that may run long on promises alone. Promises do not let timers and I/O run: a burst of events from a fast server would
 * block the whole program, including the abort of the signal.
 */
export class Turns {
  readonly #signal: AbortSignal;
  #steps = 0;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Counts one step. Returns a promise to await if the event loop needs a turn. Throws the signal's reason if it has aborted. */
  step(): Promise<void> | undefined {
    if (this.#signal.aborted) throw this.#signal.reason;
    return ++this.#steps % STEPS === 0 ? this.#pause() : undefined;
  }

  async #pause(): Promise<void> {
    await macrotask();
    this.#signal.throwIfAborted();
  }
}

/** Resolves in a later turn of the event loop. A timer would take at least 4 ms in browsers. */
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
