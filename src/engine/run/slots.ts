import type { Agent } from "../agent/agent.ts";

const DEFAULT_CONCURRENCY = 1000;
const DEFAULT_QUEUE = 10_000;
const NOTHING = (): void => {};

/** How many runs of one agent go on at a time; the others wait their turn. */
export class Slots {
  readonly #concurrency: number;
  readonly #queueLimit: number;
  readonly #queue = new Set<() => void>();
  #running = 0;

  constructor(agent: Agent) {
    this.#concurrency = agent.concurrency ?? DEFAULT_CONCURRENCY;
    this.#queueLimit = agent.queue ?? DEFAULT_QUEUE;
  }

  /** A new task may come in. Those that are there already are always let through: nothing accepted is dropped. */
  get hasRoom(): boolean {
    return this.#running < this.#concurrency || this.#queue.size < this.#queueLimit;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** Calls `start` when there is a slot, perhaps at once; it holds the slot until `leave`. Returns how to take the wish back. */
  enter(start: () => void): () => void {
    if (this.#running < this.#concurrency) {
      this.#running++;
      start();
      return NOTHING;
    }
    this.#queue.add(start);
    return () => this.#queue.delete(start);
  }

  leave(): void {
    this.#running--;
    const [next] = this.#queue;
    if (next === undefined || this.#running >= this.#concurrency) return;
    this.#queue.delete(next);
    this.#running++;
    next();
  }
}
