import type { Sealer } from "../engine/record/seal.ts";
import type { Clock } from "../internal/clock.ts";
import type { Logger } from "../internal/logger.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { DueWebhook, Store, WebhookKey, WebhookRecord } from "../store/contract.ts";
import { LONGEST_WAIT } from "./back-off.ts";
import type { DeliveryCommits } from "./delivery-commits.ts";
import { openTarget, originOf } from "./webhook-target.ts";

/** Unclaimed webhooks that are read at a time. */
const CLAIMS_PER_PAGE = 200;
/** Milliseconds until a failed read of the store is retried. */
const STORE_RETRY_MS = 1000;

/** The stored state of a webhook, as far as scheduling it needs. */
export interface StoredState {
  readonly origin: string;
  readonly cursor: number;
  /** The time of the next retry after a failed attempt; 0 without one. */
  readonly restUntil: number;
  /** The epoch of this process's claim; `undefined` if another process or none has claimed it. */
  readonly claim: number | undefined;
}

export interface WebhookClaimerOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly node: string;
  readonly agents: readonly string[];
  readonly sealer: Sealer;
  readonly commits: DeliveryCommits;
  readonly isStopping: () => boolean;
  /** Whether this process has as many webhooks as it may. Further ones wait until some are released. */
  readonly isFull: () => boolean;
  readonly isKnown: (key: WebhookKey) => boolean;
  /** This process has claimed the webhook with this epoch. */
  readonly onClaimed: (key: WebhookKey, state: StoredState, epoch: number) => void;
}

/** Claims webhooks in the store for this process, and reads their state. */
export class WebhookClaimer {
  readonly #options: WebhookClaimerOptions;
  /** A claim failed, and the store may have applied it: this process may have webhooks that it does not know. */
  #mayHaveUnknown = false;

  constructor(options: WebhookClaimerOptions) {
    this.#options = options;
  }

  /** Claims pages of webhooks that no living process has, until a page is not full. */
  async claimUnclaimed(): Promise<void> {
    const { logger, isFull, isStopping, onClaimed } = this.#options;
    if (this.#mayHaveUnknown) await this.#claimUnknown();
    while (!isStopping()) {
      if (isFull()) {
        logger.warn("Too many active webhooks for one process; the others wait");
        return;
      }
      const due = await this.#claimPage();
      for (const { webhook, scope } of due) onClaimed(webhook, this.#stateOf(webhook, scope), webhook.epoch);
      if (due.length < CLAIMS_PER_PAGE) return;
    }
  }

  /** Claims one webhook. `origin`: of its URL, if known; else it is read from the store. */
  async claim({ task, id }: WebhookKey, origin?: string): Promise<void> {
    const { node, commits, onClaimed } = this.#options;
    const outcome = await commits.submit({ kind: "webhook-claim", task, id, node });
    const newEpoch = outcome.status === "ok" ? outcome.epoch : undefined;
    // This process may have claimed it before: a repeated message announces its webhook again without storing it again.
    const isOurs = outcome.status === "held" && outcome.node === node;
    if (newEpoch === undefined && !isOurs) return;
    const known = newEpoch !== undefined && origin !== undefined;
    const state = known ? { origin, cursor: 0, restUntil: 0, claim: newEpoch } : await this.#read(task, id);
    const epoch = newEpoch ?? state?.claim;
    if (state !== undefined && epoch !== undefined) onClaimed({ task, id }, state, epoch);
  }

  async #claimPage(): Promise<readonly DueWebhook[]> {
    const { store, node, agents } = this.#options;
    try {
      return await store.claimWebhooks({ node, agents, limit: CLAIMS_PER_PAGE });
    } catch (error) {
      this.#mayHaveUnknown = true;
      throw error;
    }
  }

  /** Claims webhooks that the store says this process has, and that it does not know. */
  async #claimUnknown(): Promise<void> {
    const { store, node, isKnown } = this.#options;
    const { webhooks } = await store.claimsOf(node);
    await Promise.all(webhooks.filter((key) => !isKnown(key)).map((key) => this.claim(key)));
    this.#mayHaveUnknown = false;
  }

  #stateOf(webhook: WebhookRecord, scope: Scope): StoredState {
    const { sealer, clock, node } = this.#options;
    const target = openTarget(sealer, webhook, scope);
    // A clock that was set back must not prolong the wait.
    const restUntil = webhook.attempts > 0 ? Math.min(webhook.nextAt, clock.now() + LONGEST_WAIT) : 0;
    const claim = webhook.node === node ? webhook.epoch : undefined;
    return { origin: originOf(target?.url ?? ""), cursor: webhook.cursor, restUntil, claim };
  }

  /** Retries until it succeeds: the webhook may be claimed already, so no other process would deliver to it. */
  async #read(task: TaskId, id: string): Promise<StoredState | undefined> {
    const { store, clock, logger, isStopping } = this.#options;
    while (!isStopping()) {
      try {
        const webhook = (await store.webhooks(task)).find((each) => each.id === id);
        const record = await store.get(task, { artifacts: false, history: 0 });
        return webhook === undefined || record === undefined ? undefined : this.#stateOf(webhook, record.scope);
      } catch (error) {
        logger.warn("A webhook could not be read; retrying in 1 s", { task, error });
        await new Promise<void>((resolve) => {
          clock.setTimer(clock.now() + STORE_RETRY_MS, resolve, { unref: true });
        });
      }
    }
    return undefined;
  }
}
