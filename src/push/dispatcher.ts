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
  /** The name under which this process holds leases; somebody else renews them. */
  readonly node: string;
  readonly sealer: Sealer;
  readonly sender: HttpSender;
  readonly signer?: NotificationSigner | undefined;
  readonly codecOf: (dialect: string) => PushCodec | undefined;
  readonly settings: DeliverySettings;
  readonly concurrency?: Partial<SchedulerLimits>;
  readonly hooks?: PushHooks;
  readonly random?: () => number;
  /** The store can no longer be trusted to say what it holds. */
  readonly onFatal: (error: unknown) => void;
}

const DEFAULT_LIMITS: SchedulerLimits = { total: 64, perOrigin: 8 };
/** Webhooks in this process's care at a time. Those beyond wait until some of them are done with. */
const MAX_HELD = 100_000;
const ROUND_MS = 2000;
const CLAIMS_AT_A_TIME = 200;
const POSITIONS_PER_ROUND = 500;
/** How long to wait after the store could not be read. */
const STORE_PAUSE = 1000;
/** Bytes that all deliveries together hold, beyond the small ones that each may hold. */
const HELD_BYTES = 32 * 1024 * 1024;
const FOLDS_AT_A_TIME = 2;

/** What must be known of a webhook to put it in its place. */
interface Found {
  readonly origin: string;
  readonly cursor: number;
  /** It has been tried in vain and is not to be tried again before then. */
  readonly restUntil: number;
  /** The epoch of this process's claim, where it has it. */
  readonly claim: number | undefined;
}

/**
 * Sees to it that webhooks are told. The log is the outbox: whatever it holds after a webhook's cursor is still to be told, so an event and
 * the duty to tell of it are one commit. In memory there is only who is in this process's care, and whose turn it is.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #claimed = new ClaimedWebhooks();
  readonly #scheduler: OriginScheduler<ClaimedWebhook>;
  readonly #timers: TimerHeap<ClaimedWebhook>;
  readonly #commits: CommitQueue;
  readonly #environment: DeliveryEnvironment;
  readonly #underWay = new Set<Promise<void>>();
  #round: Timer | undefined;
  #current: Promise<void> = Promise.resolve();
  #checked: Generator<TaskId, void> | undefined;
  #unsubscribe: (() => void) | undefined;
  #isStopping = false;
  #drained: Promise<void> | undefined;

  constructor(options: DispatcherOptions) {
    const { store, clock, sealer, sender, signer, codecOf, settings } = options;
    this.#options = options;
    this.#scheduler = new OriginScheduler({ ...DEFAULT_LIMITS, ...options.concurrency }, (claimed) =>
      this.#begin(claimed),
    );
    this.#timers = new TimerHeap(clock, (claimed) => this.#alarmed(claimed));
    const onFatal = (error: unknown): void => {
      // What cannot be noted must not be told.
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
      budget: new Budget(HELD_BYTES),
      folds: new Budget(FOLDS_AT_A_TIME),
      report: (record) => this.#report(record),
      isStopping: () => this.#isStopping,
    };
  }

  counts(): { readonly claimed: number; readonly posting: number } {
    return { claimed: this.#claimed.size, posting: this.#scheduler.running };
  }

  /** Begins to look after webhooks, and takes up, bit by bit, what earlier processes left. */
  start(): void {
    this.#unsubscribe = this.#options.bus.subscribe(({ task, kind }) => {
      if (kind === "log") this.#hint(task);
    });
    this.#current = this.#go();
  }

  /** This webhook was set, or set again, and is durable. `origin`: where it leads, if that is known. */
  watch({ task, id }: WebhookKey, origin?: string): void {
    this.forget(task, id);
    if (this.#isStopping || this.#claimed.size >= MAX_HELD) return;
    this.#track(this.#claim({ task, id }, origin).then(() => {}));
  }

  /** This webhook is not to be told any more, not even what is on its way. */
  forget(task: TaskId, id: string): void {
    const claimed = this.#claimed.find(task, id);
    if (claimed !== undefined) this.#drop(claimed);
  }

  /** Begins nothing more, and lets what is under way end by itself for so many milliseconds. */
  drain(timeout: number): Promise<void> {
    this.#drained ??= this.#drain(timeout);
    return this.#drained;
  }

  async #drain(timeout: number): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe?.();
    this.#round?.cancel();
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
    await this.#current;
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
  }

  /** Hints make it quick; the rounds make it certain: webhooks of a node that died, and hints that were lost. */
  async #go(): Promise<void> {
    const { clock, logger } = this.#options;
    try {
      await this.#takeUp();
      await this.#checkPositions();
    } catch (error) {
      if (!this.#isStopping) logger.warn("A look round for webhooks failed; it is tried again", { error });
    }
    if (this.#isStopping) return;
    this.#round = clock.setTimer(
      clock.now() + ROUND_MS,
      () => {
        this.#current = this.#go();
      },
      { unref: true },
    );
  }

  async #takeUp(): Promise<void> {
    const { store, logger } = this.#options;
    for (;;) {
      if (this.#isStopping) return;
      if (this.#claimed.size >= MAX_HELD) {
        logger.warn("More webhooks are active than one process sees to; the rest wait", {
          claimed: this.#claimed.size,
        });
        return;
      }
      const unheld = await store.unheldWebhooks(CLAIMS_AT_A_TIME);
      const results = await Promise.all(unheld.map((webhook) => this.#claim(webhook)));
      if (unheld.length < CLAIMS_AT_A_TIME || !results.includes(true)) return;
    }
  }

  async #checkPositions(): Promise<void> {
    const { store } = this.#options;
    const tasks: TaskId[] = [];
    this.#checked ??= this.#claimed.waitingTasks();
    while (tasks.length < POSITIONS_PER_ROUND) {
      const next = this.#checked.next();
      if (next.done === true) {
        this.#checked = undefined;
        break;
      }
      tasks.push(next.value);
    }
    if (tasks.length === 0) return;
    for (const { id, seq } of await store.positions(tasks)) if (seq > 0) this.#hintBehind(id, seq);
  }

  /** True: it is in this process's care now. */
  async #claim({ task, id }: WebhookKey, origin?: string): Promise<boolean> {
    const { node, clock } = this.#options;
    const outcome = await this.#commits.submit({ kind: "webhook-claim", task, id, node });
    const newEpoch = outcome.status === "ok" ? outcome.epoch : undefined;
    // It is this process's already where it was said to be set and was not, as by a message that counts once and came twice.
    const isOurs = outcome.status === "held" && outcome.node === node;
    if (newEpoch === undefined && !isOurs) return false;
    const known = newEpoch !== undefined && origin !== undefined;
    const found = known ? { origin, cursor: 0, restUntil: 0, claim: newEpoch } : await this.#read(task, id);
    const epoch = newEpoch ?? found?.claim;
    if (found === undefined || epoch === undefined) return false;
    const before = this.#claimed.find(task, id);
    if (before !== undefined) {
      if (before.epoch >= epoch) return false;
      this.#drop(before);
    }
    const claimed: ClaimedWebhook = {
      task,
      id,
      epoch,
      originQueue: this.#scheduler.join(found.origin),
      phase: "waiting",
      isHinted: false,
      told: found.cursor,
      alarmAt: 0,
      quietUntil: 0,
      status: "",
      abort: undefined,
    };
    this.#claimed.add(claimed);
    if (found.restUntil > clock.now()) this.#setAlarm(claimed, "resting", found.restUntil);
    else this.#queue(claimed);
    return true;
  }

  /** Tried until it succeeds: it is claimed already, and nobody else would see to it. */
  async #read(task: TaskId, id: string): Promise<Found | undefined> {
    const { store, sealer, clock, logger } = this.#options;
    while (!this.#isStopping) {
      try {
        const webhook = (await store.webhooks(task)).find((each) => each.id === id);
        const record = await store.get(task, { artifacts: false, history: 0 });
        if (webhook === undefined || record === undefined) return undefined;
        const target = openTarget(sealer, webhook, record.scope);
        // A clock that was set back since must not make it wait for as long.
        const restUntil = webhook.attempts > 0 ? Math.min(webhook.nextAt, clock.now() + LONGEST_WAIT) : 0;
        const claim = webhook.node === this.#options.node ? webhook.epoch : undefined;
        return { origin: originOf(target?.url ?? ""), cursor: webhook.cursor, restUntil, claim };
      } catch (error) {
        logger.warn("A webhook could not be read; it is tried again", { task, error });
        await new Promise<void>((resolve) => {
          clock.setTimer(clock.now() + STORE_PAUSE, resolve, { unref: true });
        });
      }
    }
    return undefined;
  }

  #hint(task: TaskId): void {
    for (const claimed of this.#claimed.of(task)) {
      if (claimed.phase === "waiting") this.#queue(claimed);
      else claimed.isHinted = true;
    }
  }

  #hintBehind(task: TaskId, seq: number): void {
    for (const claimed of this.#claimed.of(task))
      if (claimed.phase === "waiting" && claimed.told < seq) this.#queue(claimed);
  }

  #queue(claimed: ClaimedWebhook): void {
    claimed.phase = "queued";
    this.#scheduler.add(claimed.originQueue, claimed);
  }

  #setAlarm(claimed: ClaimedWebhook, phase: "waiting" | "resting", at: number): void {
    claimed.phase = phase;
    if (claimed.alarmAt === at) return;
    claimed.alarmAt = at;
    this.#timers.add(claimed, at);
  }

  #alarmed(claimed: ClaimedWebhook): void {
    if (claimed.alarmAt > this.#options.clock.now()) return;
    claimed.alarmAt = 0;
    if (claimed.phase === "waiting" || claimed.phase === "resting") this.#queue(claimed);
  }

  #begin(claimed: ClaimedWebhook): void {
    this.#track(this.#work(claimed));
  }

  async #work(claimed: ClaimedWebhook): Promise<void> {
    let result: TurnResult = { after: { kind: "over" } };
    if (claimed.phase === "queued" && !this.#isStopping) {
      claimed.phase = "working";
      claimed.isHinted = false;
      result = await this.#turn(claimed);
    }
    this.#scheduler.done(claimed.originQueue, result.silent);
    if (!isGone(claimed)) this.#settle(claimed, result);
  }

  async #turn(claimed: ClaimedWebhook): Promise<TurnResult> {
    const { clock, logger } = this.#options;
    try {
      return await takeTurn(this.#environment, claimed);
    } catch (error) {
      claimed.abort = undefined;
      if (!this.#isStopping)
        logger.warn("A webhook could not be told; it is tried again", { task: claimed.task, error });
      return { after: { kind: "rest", until: clock.now() + STORE_PAUSE } };
    }
  }

  #settle(claimed: ClaimedWebhook, { after }: TurnResult): void {
    if (this.#isStopping) return;
    switch (after.kind) {
      case "over":
        this.#drop(claimed);
        break;
      case "more":
        this.#queue(claimed);
        break;
      case "rest":
        this.#setAlarm(claimed, "resting", after.until);
        break;
      case "pause":
        this.#setAlarm(claimed, "waiting", after.until);
        if (claimed.isHinted) this.#queue(claimed);
        break;
      case "nothing":
        claimed.phase = "waiting";
        if (claimed.isHinted) this.#queue(claimed);
    }
  }

  #drop(claimed: ClaimedWebhook): void {
    if (isGone(claimed)) return;
    claimed.phase = "gone";
    claimed.abort?.abort();
    this.#claimed.remove(claimed);
    this.#scheduler.leave(claimed.originQueue);
  }

  #track(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) => {
        if (!this.#isStopping) this.#options.logger.warn("A webhook could not be seen to", { error });
      })
      .finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  #report(record: DeliveryRecord): void {
    const { logger, hooks } = this.#options;
    if (record.outcome === "delivered") logger.debug("Webhook told", record);
    else if (record.outcome === "retried") logger.info("A webhook could not be told; it is tried again", record);
    else logger.warn("A webhook was given up", record);
    const failed = (error: unknown): void => logger.error("on.delivery() failed", { error });
    try {
      hooks?.on?.delivery?.(record)?.catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}

/** A function, since a phase changes while others are awaited. */
function isGone({ phase }: ClaimedWebhook): boolean {
  return phase === "gone";
}
