import type { Bus } from "../bus/contract.ts";
import type { Sealer } from "../engine/record/seal.ts";
import type { Clock, Timer } from "../internal/clock.ts";
import type { Logger } from "../internal/logger.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { Store, WebhookKey } from "../store/contract.ts";
import type { PushCodec } from "../wire/codec.ts";
import { LONGEST_WAIT } from "./back-off.ts";
import { Budget } from "./budget.ts";
import { type ClaimedWebhook, ClaimedWebhooks } from "./claimed-webhooks.ts";
import { CommitQueue } from "./commit-queue.ts";
import type { DeliveryRecord, PushHooks } from "./contract.ts";
import {
  type DeliveryEnvironment,
  type DeliverySettings,
  type NotificationSigner,
  type TurnResult,
  takeTurn,
} from "./delivery.ts";
import type { HttpSender } from "./http-sender.ts";
import { OriginScheduler, type SchedulerLimits } from "./origin-scheduler.ts";
import { TimerHeap } from "./timer-heap.ts";
import { openTarget, originOf } from "./webhook-target.ts";

export interface DispatcherOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The node id under which this process holds leases. The caller renews them. */
  readonly node: string;
  readonly sealer: Sealer;
  readonly sender: HttpSender;
  readonly signer?: NotificationSigner | undefined;
  readonly codecOf: (dialect: string) => PushCodec | undefined;
  readonly settings: DeliverySettings;
  readonly concurrency?: Partial<SchedulerLimits>;
  readonly hooks?: PushHooks;
  readonly random?: () => number;
  /** The outcome of a commit is unknown: the process must stop. */
  readonly onFatal: (error: unknown) => void;
}

const DEFAULT_LIMITS: SchedulerLimits = { total: 64, perOrigin: 8 };
/** The most webhooks that one process claims at a time. Further webhooks wait until some are released. */
const MAX_CLAIMED = 100_000;
const POLL_INTERVAL_MS = 2000;
const CLAIMS_PER_PAGE = 200;
const TASKS_PER_POLL = 500;
/** Milliseconds until a failed read of the store is retried. */
const STORE_RETRY_MS = 1000;
/** Bytes that all deliveries together may hold, in addition to the 64 KB that each may always hold. */
const BUDGET_BYTES = 32 * 1024 * 1024;
const CONCURRENT_REPLAYS = 2;

/** The stored state of a webhook, as far as scheduling it needs. */
interface StoredState {
  readonly origin: string;
  readonly cursor: number;
  /** The time of the next retry after a failed attempt; 0 without one. */
  readonly restUntil: number;
  /** The epoch of this process's claim; `undefined` if another process or none has claimed it. */
  readonly claim: number | undefined;
}

/**
 * Delivers events to webhooks. The task's log is the outbox: the events after a webhook's cursor are its pending deliveries, so an event and
 * its pending delivery are stored in one transaction. In memory the dispatcher keeps only the webhooks that this process has claimed, and
 * the order of their turns.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #claimed = new ClaimedWebhooks();
  readonly #scheduler: OriginScheduler<ClaimedWebhook>;
  readonly #timers: TimerHeap<ClaimedWebhook>;
  readonly #commits: CommitQueue;
  readonly #environment: DeliveryEnvironment;
  readonly #running = new Set<Promise<void>>();
  #pollTimer: Timer | undefined;
  #polling: Promise<void> = Promise.resolve();
  #tasksToCheck: Generator<TaskId, void> | undefined;
  #unsubscribe: (() => void) | undefined;
  #isStopping = false;
  #drained: Promise<void> | undefined;

  constructor(options: DispatcherOptions) {
    const { store, clock, sealer, sender, signer, codecOf, settings } = options;
    this.#options = options;
    this.#scheduler = new OriginScheduler({ ...DEFAULT_LIMITS, ...options.concurrency }, (claimed) =>
      this.#begin(claimed),
    );
    this.#timers = new TimerHeap(clock, (claimed) => this.#woken(claimed));
    const onFatal = (error: unknown): void => {
      // A delivery that cannot be recorded must not be sent: it would be repeated.
      this.#isStopping = true;
      options.onFatal(error);
    };
    this.#commits = new CommitQueue({ store, clock, onFatal });
    this.#environment = {
      store,
      clock,
      sealer,
      commits: this.#commits,
      sender,
      signer,
      codecOf,
      settings,
      random: options.random ?? Math.random,
      budget: new Budget(BUDGET_BYTES),
      replays: new Budget(CONCURRENT_REPLAYS),
      report: (record) => this.#report(record),
      isStopping: () => this.#isStopping,
    };
  }

  counts(): { readonly claimed: number; readonly posting: number } {
    return { claimed: this.#claimed.size, posting: this.#scheduler.running };
  }

  /** Starts to deliver, beginning with the pending webhooks of earlier processes. */
  start(): void {
    this.#unsubscribe = this.#options.bus.subscribe(({ task, kind }) => {
      if (kind === "log") this.#newEvents(task);
    });
    this.#polling = this.#poll();
  }

  /** Claims a webhook that was just stored, new or changed. `origin`: of its URL, if known; else it is read from the store. */
  watch({ task, id }: WebhookKey, origin?: string): void {
    this.forget(task, id);
    if (this.#isStopping || this.#claimed.size >= MAX_CLAIMED) return;
    this.#track(this.#claim({ task, id }, origin).then(() => {}));
  }

  /** Stops notifying a webhook, and aborts its request on its way. */
  forget(task: TaskId, id: string): void {
    const claimed = this.#claimed.find(task, id);
    if (claimed !== undefined) this.#release(claimed);
  }

  /** Starts no further request, waits at most `timeout` milliseconds for those on their way, then aborts them. */
  drain(timeout: number): Promise<void> {
    this.#drained ??= this.#drain(timeout);
    return this.#drained;
  }

  async #drain(timeout: number): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe?.();
    this.#pollTimer?.cancel();
    this.#timers.clear();
    this.#scheduler.close();
    if (timeout > 0) await this.#within(timeout);
    for (const claimed of this.#claimed.all()) claimed.abort?.abort();
    this.#commits.close();
    await this.#settled();
  }

  async #within(timeout: number): Promise<void> {
    const { clock } = this.#options;
    let timer: Timer | undefined;
    const tooLate = new Promise<void>((resolve) => {
      timer = clock.setTimer(clock.now() + timeout, resolve, { unref: true });
    });
    await Promise.race([this.#settled(), tooLate]);
    timer?.cancel();
  }

  async #settled(): Promise<void> {
    await this.#polling;
    while (this.#running.size > 0) await Promise.allSettled(this.#running);
  }

  /** The bus makes delivery fast; this poll loop makes it certain. It finds webhooks of crashed nodes, and events whose bus message was lost. */
  async #poll(): Promise<void> {
    const { clock, logger } = this.#options;
    try {
      await this.#claimUnclaimed();
      await this.#queueMissed();
    } catch (error) {
      if (!this.#isStopping) logger.warn("A poll for pending webhooks failed; the next one follows in 2 s", { error });
    }
    if (this.#isStopping) return;
    this.#pollTimer = clock.setTimer(
      clock.now() + POLL_INTERVAL_MS,
      () => {
        this.#polling = this.#poll();
      },
      { unref: true },
    );
  }

  async #claimUnclaimed(): Promise<void> {
    const { store, logger } = this.#options;
    for (;;) {
      if (this.#isStopping) return;
      if (this.#claimed.size >= MAX_CLAIMED) {
        logger.warn("Too many active webhooks for one process; the others wait", {
          claimed: this.#claimed.size,
        });
        return;
      }
      const unheld = await store.unheldWebhooks(CLAIMS_PER_PAGE);
      const results = await Promise.all(unheld.map((webhook) => this.#claim(webhook)));
      if (unheld.length < CLAIMS_PER_PAGE || !results.includes(true)) return;
    }
  }

  async #queueMissed(): Promise<void> {
    const { store } = this.#options;
    const tasks: TaskId[] = [];
    this.#tasksToCheck ??= this.#claimed.waitingTasks();
    while (tasks.length < TASKS_PER_POLL) {
      const next = this.#tasksToCheck.next();
      if (next.done === true) {
        this.#tasksToCheck = undefined;
        break;
      }
      tasks.push(next.value);
    }
    if (tasks.length === 0) return;
    for (const { id, seq } of await store.positions(tasks)) if (seq > 0) this.#queueBehind(id, seq);
  }

  /** True if this process has newly claimed the webhook. */
  async #claim({ task, id }: WebhookKey, origin?: string): Promise<boolean> {
    const { node, clock } = this.#options;
    const outcome = await this.#commits.submit({ kind: "webhook-claim", task, id, node });
    const newEpoch = outcome.status === "ok" ? outcome.epoch : undefined;
    // This process may have claimed it before: a repeated message announces its webhook again without storing it again.
    const isOurs = outcome.status === "held" && outcome.node === node;
    if (newEpoch === undefined && !isOurs) return false;
    const known = newEpoch !== undefined && origin !== undefined;
    const state = known ? { origin, cursor: 0, restUntil: 0, claim: newEpoch } : await this.#read(task, id);
    const epoch = newEpoch ?? state?.claim;
    if (state === undefined || epoch === undefined) return false;
    const before = this.#claimed.find(task, id);
    if (before !== undefined) {
      if (before.epoch >= epoch) return false;
      this.#release(before);
    }
    const claimed: ClaimedWebhook = {
      task,
      id,
      epoch,
      originQueue: this.#scheduler.join(state.origin),
      phase: "waiting",
      hasNewEvents: false,
      deliveredSeq: state.cursor,
      wakeAt: 0,
      quietUntil: 0,
      status: "",
      abort: undefined,
    };
    this.#claimed.add(claimed);
    if (state.restUntil > clock.now()) this.#wakeLater(claimed, "resting", state.restUntil);
    else this.#queue(claimed);
    return true;
  }

  /** Retries until it succeeds: the webhook may be claimed already, so no other process would deliver to it. */
  async #read(task: TaskId, id: string): Promise<StoredState | undefined> {
    const { store, sealer, clock, logger } = this.#options;
    while (!this.#isStopping) {
      try {
        const webhook = (await store.webhooks(task)).find((each) => each.id === id);
        const record = await store.get(task, { artifacts: false, history: 0 });
        if (webhook === undefined || record === undefined) return undefined;
        const target = openTarget(sealer, webhook, record.scope);
        // A clock that was set back must not prolong the wait.
        const restUntil = webhook.attempts > 0 ? Math.min(webhook.nextAt, clock.now() + LONGEST_WAIT) : 0;
        const claim = webhook.node === this.#options.node ? webhook.epoch : undefined;
        return { origin: originOf(target?.url ?? ""), cursor: webhook.cursor, restUntil, claim };
      } catch (error) {
        logger.warn("A webhook could not be read; retrying in 1 s", { task, error });
        await new Promise<void>((resolve) => {
          clock.setTimer(clock.now() + STORE_RETRY_MS, resolve, { unref: true });
        });
      }
    }
    return undefined;
  }

  #newEvents(task: TaskId): void {
    for (const claimed of this.#claimed.of(task)) {
      if (claimed.phase === "waiting") this.#queue(claimed);
      else claimed.hasNewEvents = true;
    }
  }

  #queueBehind(task: TaskId, seq: number): void {
    for (const claimed of this.#claimed.of(task))
      if (claimed.phase === "waiting" && claimed.deliveredSeq < seq) this.#queue(claimed);
  }

  #queue(claimed: ClaimedWebhook): void {
    claimed.phase = "queued";
    this.#scheduler.add(claimed.originQueue, claimed);
  }

  #wakeLater(claimed: ClaimedWebhook, phase: "waiting" | "resting", at: number): void {
    claimed.phase = phase;
    if (claimed.wakeAt === at) return;
    claimed.wakeAt = at;
    this.#timers.add(claimed, at);
  }

  #woken(claimed: ClaimedWebhook): void {
    if (claimed.wakeAt > this.#options.clock.now()) return;
    claimed.wakeAt = 0;
    if (claimed.phase === "waiting" || claimed.phase === "resting") this.#queue(claimed);
  }

  #begin(claimed: ClaimedWebhook): void {
    this.#track(this.#work(claimed));
  }

  async #work(claimed: ClaimedWebhook): Promise<void> {
    let result: TurnResult = { after: { kind: "release" } };
    if (claimed.phase === "queued" && !this.#isStopping) {
      claimed.phase = "working";
      claimed.hasNewEvents = false;
      result = await this.#turn(claimed);
    }
    this.#scheduler.done(claimed.originQueue, result.silent);
    if (!isReleased(claimed)) this.#settle(claimed, result);
  }

  async #turn(claimed: ClaimedWebhook): Promise<TurnResult> {
    const { clock, logger } = this.#options;
    try {
      return await takeTurn(this.#environment, claimed);
    } catch (error) {
      claimed.abort = undefined;
      if (!this.#isStopping)
        logger.warn("A delivery failed in the store; retrying in 1 s", { task: claimed.task, error });
      return { after: { kind: "retry", until: clock.now() + STORE_RETRY_MS } };
    }
  }

  #settle(claimed: ClaimedWebhook, { after }: TurnResult): void {
    if (this.#isStopping) return;
    switch (after.kind) {
      case "release":
        this.#release(claimed);
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
        if (claimed.hasNewEvents) this.#queue(claimed);
    }
  }

  #release(claimed: ClaimedWebhook): void {
    if (isReleased(claimed)) return;
    claimed.phase = "released";
    claimed.abort?.abort();
    this.#claimed.remove(claimed);
    this.#scheduler.leave(claimed.originQueue);
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) => {
        if (!this.#isStopping) this.#options.logger.warn("A webhook could not be claimed", { error });
      })
      .finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }

  #report(record: DeliveryRecord): void {
    const { logger, hooks } = this.#options;
    if (record.outcome === "delivered") logger.debug("Webhook notified", record);
    else if (record.outcome === "retried") logger.info("A webhook delivery failed; it will be retried", record);
    else logger.warn("A webhook delivery failed for good", record);
    const failed = (error: unknown): void => logger.error("on.delivery() failed", { error });
    try {
      hooks?.on?.delivery?.(record)?.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

/** A function, because TypeScript would narrow `phase`, which changes during an `await`. */
function isReleased({ phase }: ClaimedWebhook): boolean {
  return phase === "released";
}
