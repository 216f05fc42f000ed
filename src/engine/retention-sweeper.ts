import type { Clock, Timer } from "../internal/clock.ts";
import type { Logger } from "../internal/logger.ts";
import { nextTurn } from "../internal/next-turn.ts";
import type { Store } from "../store/contract.ts";

/** Milliseconds between the beginnings of two sweeps. */
const SWEEP_INTERVAL_MS = 60_000;

export interface RetentionSweeperOptions {
  readonly store: Pick<Store, "sweep">;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * Applies the store's retention policy at the start and then every 60 seconds. Each sweep deletes everything that is due: in batches of the
 * size that the store chooses, with at least one turn of the event loop between two batches, so that requests and commits are served.
 */
export class RetentionSweeper {
  readonly #options: RetentionSweeperOptions;
  #timer: Timer | undefined;
  /** The sweep that is running. */
  #current: Promise<void> | undefined;
  #stopped = false;

  constructor(options: RetentionSweeperOptions) {
    this.#options = options;
  }

  /** Begins the first sweep and returns at once. */
  start(): void {
    if (this.#stopped) return;
    const { clock } = this.#options;
    this.#timer = clock.setTimer(clock.now() + SWEEP_INTERVAL_MS, () => this.start(), { unref: true });
    // A sweep that takes longer than the interval replaces the next one.
    this.#current ??= this.#sweep().finally(() => {
      this.#current = undefined;
    });
  }

  /** Ends a sweep after its present batch. Resolves when the store is no longer used. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    await this.#current;
  }

  async #sweep(): Promise<void> {
    const { store, logger } = this.#options;
    try {
      while ((await store.sweep()) > 0) {
        await nextTurn();
        if (this.#stopped) return;
      }
    } catch (error) {
      if (!this.#stopped) logger.warn("Expired tasks could not be deleted; the next sweep tries again.", { error });
    }
  }
}
