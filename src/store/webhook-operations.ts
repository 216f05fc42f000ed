import type { TaskId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/principal.ts";
import type { JournalRecord } from "./journal-record.ts";

/**
 * `active`: events are, or will be, waiting for delivery. `idle`: the task has ended and everything was delivered. `suspended`: delivery failed for
 * good, until the webhook is set again or revived. `removed`: as `suspended`, and callers no longer see the webhook.
 */
export type WebhookState = "active" | "idle" | "suspended" | "removed";

/** A webhook as its caller sets it. It receives the events of the task after its cursor. */
export interface WebhookDraft {
  /** Unique within the task. Setting a webhook with the same id replaces it. */
  readonly id: string;
  /** Dialect in which it was set. */
  readonly dialect: string;
  /** Target and options, opaque and encrypted. */
  readonly body: string;
  /** The caller gave no id; the server created it. */
  readonly unnamed: boolean;
  /** When it was set. */
  readonly at: number;
}

/** A stored webhook. */
export interface WebhookRecord extends WebhookDraft {
  readonly task: TaskId;
  readonly state: WebhookState;
  /** The last seq that was delivered or skipped. */
  readonly cursor: number;
  /** Failed attempts to deliver the next notification. */
  readonly attempts: number;
  /** When the next attempt is due. */
  readonly nextAt: number;
  /** Why delivery failed for good. */
  readonly failure?: string;
  /** When delivery failed for good. */
  readonly failedAt?: number;
  /**
   * Rises each time the webhook is set, claimed or revived. An `advance` with an earlier epoch is fenced. An epoch is never used twice for the
   * same task and id, even if the webhook was deleted in between.
   */
  readonly epoch: number;
  /** The node that claimed it, living or not. */
  readonly node?: string;
}

/** One page of the webhooks whose delivery failed for good, the latest failure first. */
export interface FailedWebhooksQuery {
  readonly limit: number;
  /** Only webhooks of this task. */
  readonly task?: TaskId;
  /** Only webhooks with an earlier `failedAt`. */
  readonly before?: number;
  /** With `before`: also webhooks with exactly that `failedAt` that come after this one. Pass the last webhook of a page to get the next page. */
  readonly beyond?: WebhookKey;
}

/** Identifies a webhook. */
export interface WebhookKey {
  readonly task: TaskId;
  readonly id: string;
}

/**
 * Sets a webhook of a running or an ended task and makes it active, with 0 attempts, no claim and a new epoch.
 *
 * Its cursor is the smallest cursor of the webhooks that it replaces (by id, or by `only`) and that were active or suspended, so that pending
 * events are delivered to the new target. If it replaces none, the cursor is the task's present seq; for an ended task, one less, so that it
 * receives the last event.
 *
 * Outcomes: `ok`; `not-found`, also if the task is not in `scope`; `full` if the webhook is new and the task has `maxPerTask` others that are not
 * removed. At most `maxPerTask` removed webhooks are kept; the oldest are deleted.
 */
export interface WebhookSet {
  readonly kind: "webhook-set";
  readonly task: TaskId;
  readonly scope: Scope;
  readonly webhook: WebhookDraft;
  readonly maxPerTask: number;
  /** Replaces all webhooks of the task that were set in the same dialect, except removed ones. */
  readonly only: boolean;
}

/** Deletes a webhook. Outcomes: `ok`, `not-found`. */
export interface WebhookDelete {
  readonly kind: "webhook-delete";
  readonly task: TaskId;
  readonly id: string;
}

/** Claims an active webhook if no living node has it. Outcomes: `ok` with the new epoch, `held`, `not-found` (also if it is not active). */
export interface WebhookClaim {
  readonly kind: "webhook-claim";
  readonly task: TaskId;
  readonly id: string;
  readonly node: string;
}

/** Stores the progress of a delivery. Outcomes: `ok`, `not-found`, `inbox` (see `state`), `fenced` if it is not active or has another epoch. */
export interface WebhookAdvance {
  readonly kind: "webhook-advance";
  readonly task: TaskId;
  readonly id: string;
  readonly epoch: number;
  readonly cursor: number;
  readonly attempts: number;
  readonly nextAt: number;
  /**
   * Any state but `active` releases the claim. `idle` is refused while the task has not ended or its log has events after `cursor`: everything else
   * is applied, the webhook stays active and claimed, and the outcome is `inbox`.
   */
  readonly state: WebhookState;
  readonly failure?: string;
  /** For the states `suspended` and `removed`. Default: `nextAt`. */
  readonly failedAt?: number;
  /** Added to the journal of the task. */
  readonly journal?: JournalRecord;
}

/**
 * Makes a suspended or removed webhook active again: same cursor, 0 attempts, `nextAt` is `at`. Outcomes: `ok`, `not-found` (also in any other
 * state).
 */
export interface WebhookRevive {
  readonly kind: "webhook-revive";
  readonly task: TaskId;
  readonly id: string;
  readonly at: number;
}

/** One operation of a commit on a webhook. */
export type WebhookOperation = WebhookSet | WebhookDelete | WebhookClaim | WebhookAdvance | WebhookRevive;
