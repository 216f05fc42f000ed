import type { Agent } from "../agent/agent.ts";

const DEFAULT_CONCURRENCY = 1000;
const DEFAULT_QUEUE = 10_000;
const NOTHING = (): void => {};

/** Limits how many runs of one agent are running at a time (`concurrency`). Further runs wait in a queue. */
export class Slots {
  readonly #concurrency: number;
  readonly #queueLimit: number;
  readonly #queue = new Set<() => void>();
  #running = 0;

  constructor(agent: Agent) {
    this.#concurrency = agent.concurrency ?? DEFAULT_CONCURRENCY;
    this.#queueLimit = agent.queue ?? DEFAULT_QUEUE;
  }

  /** Whether a new task may be accepted. Tasks that were accepted before always enter the queue, whatever its length. */
  get hasRoom(): boolean {
    return this.#running < this.#concurrency || this.#queue.size < this.#queueLimit;
  }

  get running(): number {
    return this.#running;
  }

  get queued(): number {
    return this.#queue.size;
  }

  /** Calls `start` as soon as a slot is free, perhaps immediately. Call `leave` to free the slot. Returns a function that leaves the queue. */
  enter(start: () => void): () => void {
    if (this.#running < this.#concurrency) {
      this.#running++;
      start();
      return NOTHING;
    }
    this.#queue.add(start);
    return () => this.#queue.delete(start);
  }

  /** Frees a slot, and starts the next run in the queue. */
  leave(): void {
    this.#running--;
    const [next] = this.#queue;
    if (next === undefined || this.#running >= this.#concurrency) return;
    this.#queue.delete(next);
    this.#running++;
    next();
  }
}
