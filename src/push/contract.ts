import type { TaskId } from "../protocol/ids.ts";
import type { KeptPushConfig, PushConfig, PushPolicy } from "../protocol/operation.ts";
import type { Scope } from "../protocol/principal.ts";
import type { WebhookDraft, WebhookRecord, WebhookState } from "../store/contract.ts";

/** The caller of a webhook operation, its dialect, and the rules of that dialect. */
export interface PushCaller {
  readonly scope: Scope;
  readonly dialect: string;
  readonly policy: PushPolicy;
}

/** Stores and reads webhook configurations. Errors are `A2AError`s. A task outside the caller's scope is `task-not-found`, like one that does not exist. */
export interface WebhookConfigService {
  /**
   * Prepares a configuration to be stored in the same transaction as the message that it came with. Without an id, its id is derived from
   * the dialect and the URL, so that a repeated configuration replaces the earlier one. Throws `invalid-params` with the path of the wrong
   * field, which begins with `field`. Does not resolve host names.
   */
  prepare(caller: PushCaller, config: PushConfig, field: string): WebhookDraft;
  /** A stored webhook of a task in `scope` has the id and the content of a prepared one. */
  isSame(draft: WebhookDraft, stored: WebhookRecord, scope: Scope): boolean;
  /** Stores a configuration, replacing the one with the same id. Rejects with `resource-exhausted` above `maxPerTask`. */
  set(caller: PushCaller, task: TaskId, config: PushConfig): Promise<KeptPushConfig>;
  /** Without an id: the latest. `undefined`: none exists, and the dialect answers with nothing instead of an error. */
  get(caller: PushCaller, task: TaskId, id: string | undefined): Promise<KeptPushConfig | undefined>;
  /** In the order in which they were first set. */
  list(caller: PushCaller, task: TaskId): Promise<readonly KeptPushConfig[]>;
  /** Without an id: the latest. Succeeds also if the configuration does not exist. */
  delete(caller: PushCaller, task: TaskId, id: string | undefined): Promise<void>;
  /** The most configurations of one task. */
  readonly maxPerTask: number;
  /** Starts to notify a prepared webhook, after it was stored with its message. `key`: the store key of the task. */
  stored(key: TaskId, draft: WebhookDraft): void;
}

/**
 * What became of one attempt. `retried`: it failed and will be repeated. `given-up`: it failed, and no retries are left. `refused`: requests
 * to this address are not allowed. `dropped`: the receiver answered 410 and wants no more.
 */
export type DeliveryOutcome = "delivered" | "retried" | "given-up" | "refused" | "dropped";

/** One attempt to deliver a notification, reported after it ended. */
export interface DeliveryRecord {
  /** The id that callers see. */
  readonly taskId: string;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string;
  /** The id of the webhook. */
  readonly configId: string;
  /** The webhook's URL without its query. */
  readonly url: string;
  readonly outcome: DeliveryOutcome;
  /** The seq of the last event in the notification. */
  readonly seq: number;
  /** The number of this attempt, from 1. */
  readonly attempt: number;
  /** The status of the receiver's answer; absent without an answer. */
  readonly httpStatus?: number;
  /** Why the attempt failed; absent if it was delivered. */
  readonly reason?: string;
  /** Of this attempt, without waiting for its turn. */
  readonly durationMs: number;
}

/** Functions of the operator. */
export interface PushHooks {
  readonly on?: {
    /** Called after every attempt. An error it throws is logged and changes nothing. */
    delivery?(record: DeliveryRecord): void | Promise<void>;
  };
}

/** A webhook whose delivery failed for good. */
export interface DeadLetter {
  readonly taskId: string;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string;
  readonly configId: string;
  /** The webhook's URL without its query. */
  readonly url: string;
  readonly outcome: Extract<DeliveryOutcome, "given-up" | "refused" | "dropped">;
  readonly reason: string;
  /** The seq of the first event that was not delivered. All later events wait behind it. */
  readonly seq: number;
  /** Attempts of the last notification, including the first. */
  readonly attempts: number;
  /** ISO 8601. */
  readonly failedAt: string;
}

/** Filters dead letters. `taskId` needs the scope as well only if the caller chose the task's id. */
export interface DeadLettersQuery extends Partial<Scope> {
  /** Default 100, at most 1000. */
  readonly limit?: number | undefined;
  /** Only dead letters of this task. */
  readonly taskId?: string | undefined;
  /** The last dead letter of the previous page; the list goes from new to old. */
  readonly after?: Pick<DeadLetter, "failedAt" | "taskId" | "configId" | keyof Scope> | undefined;
}

/** Identifies one dead letter. The scope is needed only if the caller chose the task's id. */
export type DeadLetterRef = Pick<DeadLetter, "taskId" | "configId"> & Partial<Scope>;

/** A webhook as operators see it: without secrets. */
export interface WebhookSummary {
  /** The store key of its task, and the id that callers see. */
  readonly task: string;
  readonly taskId: string;
  readonly agent: string;
  readonly configId: string;
  /** Without its query. Empty: the configuration cannot be decrypted. */
  readonly url: string;
  readonly dialect: string;
  readonly state: WebhookState;
  /** The last event that was delivered or skipped, and the last event of the task. */
  readonly deliveredSeq: number;
  readonly lastSeq: number;
  /** Failed attempts to deliver the next notification. */
  readonly attempts: number;
  /** When the next attempt is due, in ISO 8601. Only after a failed attempt. */
  readonly nextAt?: string;
  /** The process that delivers to it. */
  readonly node?: string;
}

/** Shows operators the webhooks of all callers. */
export interface WebhookOverview {
  /** The webhooks of a task, in the order in which they were first set. */
  ofTask(task: TaskId): Promise<readonly WebhookSummary[]>;
  /** Webhooks that this process delivers to, at most `limit`. */
  claimed(limit: number): Promise<readonly WebhookSummary[]>;
}
