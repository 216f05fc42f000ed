import type { Bus } from "../bus/contract.ts";
import type { Logger } from "../internal/logger.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { WebhookKey } from "../store/contract.ts";
import type { ClaimedWebhook, ClaimedWebhooks } from "./claimed-webhooks.ts";
import { type DeliveryEnvironment, type TurnResult, takeTurn } from "./delivery.ts";
import { OriginScheduler, type SchedulerLimits } from "./origin-scheduler.ts";
import { TimerHeap } from "./timer-heap.ts";
import type { StoredState } from "./webhook-claimer.ts";

export interface WebhookTurnsOptions {
  readonly claimed: ClaimedWebhooks;
  readonly environment: DeliveryEnvironment;
  readonly limits: SchedulerLimits;
  readonly bus: Bus;
  readonly logger: Logger;
  /** Called with each turn that begins, so that the caller can wait for its end. It reports errors. */
  readonly track: (turn: Promise<void>) => void;
}

/** Milliseconds until a failed read of the store is retried. */
const STORE_RETRY_MS = 1000;

/**
 * The turns of the webhooks that this process has claimed: a webhook with new events is queued, gets a turn when its origin has room, and then waits
 * for events or for the time of its retry.
 */
export class WebhookTurns {
  readonly #options: WebhookTurnsOptions;
  readonly #environment: DeliveryEnvironment;
  readonly #scheduler: OriginScheduler<ClaimedWebhook>;
  readonly #timers: TimerHeap<ClaimedWebhook>;

  constructor(options: WebhookTurnsOptions) {
    this.#options = options;
    this.#environment = options.environment;
    this.#scheduler = new OriginScheduler(options.limits, (claimed) => this.#begin(claimed));
    this.#timers = new TimerHeap(options.environment.clock, (claimed) => this.#woken(claimed));
  }

  /** Number of turns that run now. */
  get running(): number {
    return this.#scheduler.running;
  }

  /** No further turn begins. */
  close(): void {
    this.#timers.clear();
    this.#scheduler.close();
  }

  /** This process has claimed the webhook with this epoch. */
  accept({ task, id }: WebhookKey, state: StoredState, epoch: number): void {
    const { bus } = this.#options;
    const { clock } = this.#environment;
    const before = this.#options.claimed.find(task, id);
    if (before !== undefined) {
      if (before.epoch >= epoch) return;
      this.release(before);
    }
    const claimed: ClaimedWebhook = {
      task,
      id,
      epoch,
      originQueue: this.#scheduler.join(state.origin),
      unwatch: bus.watch(task),
      phase: "waiting",
      hasNewEvents: false,
      deliveredSeq: state.cursor,
      pendingSince: 0,
      wakeAt: 0,
      quietUntil: 0,
      status: "",
      abort: undefined,
      journal: undefined,
    };
    this.#options.claimed.add(claimed);
    claimed.pendingSince = clock.now();
    if (state.restUntil > clock.now()) this.#wakeLater(claimed, "resting", state.restUntil);
    else this.#queue(claimed);
  }

  /** Events of this task were committed. */
  newEvents(task: TaskId): void {
    for (const claimed of this.#options.claimed.of(task)) {
      if (claimed.phase === "waiting") this.#queue(claimed);
      else claimed.hasNewEvents = true;
    }
  }

  /** The log of this task ends with `seq`: queues its waiting webhooks that were not notified of all of it. */
  queueBehind(task: TaskId, seq: number): void {
    for (const claimed of this.#options.claimed.of(task))
      if (claimed.phase === "waiting" && claimed.deliveredSeq < seq) this.#queue(claimed);
  }

  #queue(claimed: ClaimedWebhook): void {
    claimed.phase = "queued";
    if (claimed.pendingSince === 0) claimed.pendingSince = this.#environment.clock.now();
    this.#scheduler.add(claimed.originQueue, claimed);
  }

  /** Timers cannot be removed from the heap: `#woken` ignores those that no longer match `wakeAt`. */
  #wakeLater(claimed: ClaimedWebhook, phase: "waiting" | "resting", at: number): void {
    claimed.phase = phase;
    if (claimed.wakeAt === at) return;
    claimed.wakeAt = at;
    this.#timers.add(claimed, at);
  }

  #woken(claimed: ClaimedWebhook): void {
    if (claimed.wakeAt > this.#environment.clock.now()) return;
    claimed.wakeAt = 0;
    if (claimed.phase === "waiting" || claimed.phase === "resting") this.#queue(claimed);
  }

  #begin(claimed: ClaimedWebhook): void {
    this.#options.track(this.#work(claimed));
  }

  /** The webhook may have been released while it was queued; then its turn ends at once. */
  async #work(claimed: ClaimedWebhook): Promise<void> {
    let result: TurnResult = { after: { kind: "release" } };
    if (claimed.phase === "queued" && !this.#environment.isStopping()) {
      claimed.phase = "working";
      claimed.hasNewEvents = false;
      result = await this.#turn(claimed);
    }
    this.#scheduler.done(claimed.originQueue, result.silent);
    if (!isReleased(claimed)) this.#settle(claimed, result);
  }

  /** An error of the store is not one of the webhook: it costs no attempt. */
  async #turn(claimed: ClaimedWebhook): Promise<TurnResult> {
    const { clock } = this.#environment;
    try {
      return await takeTurn(this.#environment, claimed);
    } catch (error) {
      claimed.abort = undefined;
      if (!this.#environment.isStopping())
        this.#options.logger.warn("A delivery failed in the store; retrying in 1 s", { task: claimed.task, error });
      return { after: { kind: "retry", until: clock.now() + STORE_RETRY_MS } };
    }
  }

  /** Events that arrived during the turn queue the webhook again at once, except while it waits for a retry. */
  #settle(claimed: ClaimedWebhook, { after }: TurnResult): void {
    if (this.#environment.isStopping()) return;
    switch (after.kind) {
      case "release":
        this.release(claimed);
        break;
      case "continue":
        this.#queue(claimed);
        break;
      case "retry":
        this.#wakeLater(claimed, "resting", after.until);
        break;
      case "pause":
        this.#wakeLater(claimed, "waiting", after.until);
        if (claimed.hasNewEvents) this.#queue(claimed);
        break;
      case "wait":
        claimed.phase = "waiting";
        claimed.pendingSince = 0;
        if (claimed.hasNewEvents) this.#queue(claimed);
    }
  }

  /** Ends the webhook's turns and aborts its request. Only in memory: the store is not changed. */
  release(claimed: ClaimedWebhook): void {
    if (isReleased(claimed)) return;
    claimed.phase = "released";
    claimed.abort?.abort();
    claimed.unwatch();
    this.#options.claimed.remove(claimed);
    this.#scheduler.leave(claimed.originQueue);
  }
}

/** A function, because TypeScript would narrow `phase`, which changes during an `await`. */
function isReleased({ phase }: ClaimedWebhook): boolean {
  return phase === "released";
}
