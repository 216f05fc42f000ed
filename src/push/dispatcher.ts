import { randomUUID } from "node:crypto";
import type { Bus } from "../bus/contract.ts";
import type { NodeLease } from "../engine/record/node-lease.ts";
import type { Sealer } from "../engine/record/seal.ts";
import { callHook } from "../internal/call-hook.ts";
import type { Clock, Timer } from "../internal/clock.ts";
import type { Logger } from "../internal/logger.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { Store, WebhookKey } from "../store/contract.ts";
import type { Telemetry } from "../telemetry/contract.ts";
import type { PushCodec } from "../wire/codec.ts";
import { Budget } from "./budget.ts";
import { type ClaimedWebhook, ClaimedWebhooks, type WebhookCounts } from "./claimed-webhooks.ts";
import type { DeliveryRecord, PushHooks } from "./contract.ts";
import type { DeliveryEnvironment, DeliverySettings, NotificationSigner } from "./delivery.ts";
import { DeliveryCommits } from "./delivery-commits.ts";
import type { HttpSender } from "./http-sender.ts";
import type { SchedulerLimits } from "./origin-scheduler.ts";
import { WebhookClaimer } from "./webhook-claimer.ts";
import { WebhookTurns } from "./webhook-turns.ts";

/** What the dispatcher works with. `concurrency` defaults to 64 requests in total and 8 per origin. */
export interface DispatcherOptions {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The node id under which this process holds leases. The caller renews them. */
  readonly node: string;
  /** Ids of the agents that this process serves. It notifies the webhooks of their tasks. */
  readonly agents: readonly string[];
  /** The lease of the node. Absent: it never ends. */
  readonly lease?: NodeLease;
  readonly sealer: Sealer;
  readonly sender: HttpSender;
  readonly signer?: NotificationSigner | undefined;
  readonly codecOf: (dialect: string) => PushCodec | undefined;
  readonly settings: DeliverySettings;
  readonly concurrency?: Partial<SchedulerLimits>;
  readonly hooks?: PushHooks;
  readonly telemetry?: Telemetry | undefined;
  readonly random?: () => number;
  /** The outcome of a commit is unknown: the process must stop. */
  readonly onFatal: (error: unknown) => void;
}

const DEFAULT_LIMITS: SchedulerLimits = { total: 64, perOrigin: 8 };
/** The most webhooks that one process claims at a time. Further webhooks wait until some are released. */
const MAX_CLAIMED = 100_000;
/** An event whose bus message was lost waits until a poll checks its task. */
const POLL_INTERVAL_MS = 1000;
/** Milliseconds after which released webhooks are claimed. */
const CLAIM_DELAY_MS = 100;
/** Webhooks of processes that died are looked for in every second poll: their leases take longer to end. */
const POLLS_PER_CLAIM = 2;
/** Tasks whose position is compared in one poll; the next poll continues after them. */
const TASKS_PER_POLL = 500;
/** Bytes that all deliveries together may hold, in addition to the 64 KB that each may always hold. */
const BUDGET_BYTES = 32 * 1024 * 1024;
/** A replay reads a whole log, so few run at a time. */
const CONCURRENT_REPLAYS = 2;

/**
 * Delivers events to webhooks. The task's log is the outbox: the events after a webhook's cursor are its pending deliveries, so an event and
 * its pending delivery are stored in one transaction. In memory the dispatcher keeps only the webhooks that this process has claimed, and
 * the order of their turns.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #claimed = new ClaimedWebhooks();
  readonly #turns: WebhookTurns;
  readonly #commits: DeliveryCommits;
  readonly #claimer: WebhookClaimer;
  readonly #running = new Set<Promise<void>>();
  #pollTimer: Timer | undefined;
  /** Set while released webhooks are claimed soon. */
  #claimTimer: Timer | undefined;
  #polls = 0;
  #polling: Promise<void> = Promise.resolve();
  #tasksToCheck: Generator<TaskId, void> | undefined;
  #unsubscribe: (() => void) | undefined;
  #isStopping = false;
  #drained: Promise<void> | undefined;

  constructor(options: DispatcherOptions) {
    const { store, clock, sealer, sender, signer, codecOf, settings, node } = options;
    this.#options = options;
    const onFatal = (error: unknown): void => {
      // A delivery that cannot be recorded must not be sent: it would be repeated.
      this.#isStopping = true;
      options.onFatal(error);
    };
    this.#commits = new DeliveryCommits({ store, clock, writer: `${node}/push/${randomUUID()}`, onFatal });
    this.#claimer = new WebhookClaimer({
      ...options,
      commits: this.#commits,
      isStopping: () => this.#isStopping,
      isFull: () => this.#claimed.size >= MAX_CLAIMED,
      isKnown: ({ task, id }) => this.#claimed.find(task, id) !== undefined,
      onClaimed: (key, state, epoch) => this.#turns.accept(key, state, epoch),
    });
    const environment: DeliveryEnvironment = {
      node,
      telemetry: options.telemetry,
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
      lease: options.lease,
      report: (record) => this.#report(record),
      isStopping: () => this.#isStopping,
    };
    this.#turns = new WebhookTurns({
      claimed: this.#claimed,
      environment,
      limits: { ...DEFAULT_LIMITS, ...options.concurrency },
      bus: options.bus,
      logger: options.logger,
      track: (turn) => this.#track(turn),
    });
  }

  /** For metrics: webhooks in memory, and requests on their way. */
  counts(): WebhookCounts & { readonly posting: number } {
    return { ...this.#claimed.counts(this.#options.clock.now()), posting: this.#turns.running };
  }

  /** For operators: the webhooks that this process has claimed, in the order of the tasks' first claims. */
  claimed(): Iterable<ClaimedWebhook> {
    return this.#claimed.all();
  }

  /** Starts to deliver, beginning with the pending webhooks of earlier processes. */
  start(): void {
    this.#unsubscribe = this.#options.bus.subscribe({
      node: this.#options.node,
      onHints: (hints) => {
        for (const hint of hints) {
          if (hint.kind === "log") this.#turns.newEvents(hint.task);
          else if (hint.kind === "due") this.#claimSoon();
        }
      },
      onReconnect: () => this.#track(this.#queueAllMissed()),
    });
    this.#polling = this.#poll();
  }

  /**
   * Claims a webhook that was just stored, new, changed, or the same again. If it has changed, the new claim ends the old one. `origin`: of its
   * URL, if known; else it is read from the store.
   */
  watch({ task, id }: WebhookKey, origin?: string): void {
    if (this.#isStopping || this.#claimed.size >= MAX_CLAIMED) return;
    this.#track(this.#claimer.claim({ task, id }, origin));
  }

  /** Stops notifying a webhook, and aborts its request on its way. */
  forget(task: TaskId, id: string): void {
    const claimed = this.#claimed.find(task, id);
    if (claimed !== undefined) this.#turns.release(claimed);
  }

  /** Starts no further request, waits at most `timeout` milliseconds for those on their way, then aborts them. */
  drain(timeout: number): Promise<void> {
    this.#drained ??= this.#drain(timeout);
    return this.#drained;
  }

  /** Pending deliveries stay in the store: the next process continues them. */
  async #drain(timeout: number): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe?.();
    this.#pollTimer?.cancel();
    this.#claimTimer?.cancel();
    this.#turns.close();
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
      if (this.#polls++ % POLLS_PER_CLAIM === 0) await this.#claimer.claimUnclaimed();
      await this.#queueMissed();
    } catch (error) {
      if (!this.#isStopping) logger.warn("A poll for pending webhooks failed; the next one follows in 1 s", { error });
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

  /** A node has released tasks or webhooks. Tasks go first: they write the events that webhooks get. */
  #claimSoon(): void {
    const { clock } = this.#options;
    this.#claimTimer ??= clock.setTimer(
      clock.now() + CLAIM_DELAY_MS,
      () => {
        this.#claimTimer = undefined;
        if (!this.#isStopping) this.#track(this.#claimer.claimUnclaimed());
      },
      { unref: true },
    );
  }

  async #queueAllMissed(): Promise<void> {
    do await this.#queueMissed();
    while (this.#tasksToCheck !== undefined && !this.#isStopping);
  }

  /** Compares the log's position with what was delivered, for a part of the waiting tasks per poll. */
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
    for (const { id, seq } of await store.positions(tasks)) if (seq > 0) this.#turns.queueBehind(id, seq);
  }

  /** `drain` waits for everything that is tracked. */
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
    callHook(() => hooks?.on?.delivery?.(record), logger);
  }
}
