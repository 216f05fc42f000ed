import type { TaskId } from "../protocol/ids.ts";
import type { KeptPushConfig, PushConfig, PushPolicy } from "../protocol/operation.ts";
import type { Scope } from "../protocol/principal.ts";
import type { WebhookDraft } from "../store/contract.ts";

/** Who sets a configuration, and in which dialect. */
export interface PushCaller {
  readonly scope: Scope;
  readonly dialect: string;
  readonly policy: PushPolicy;
}

/** What the push operations of a server ask for. Refusals are `A2AError`s; a task outside the scope is as good as none. */
export interface WebhookConfigService {
  /**
   * A configuration ready to be stored together with the message it came with; of several without an id that lead to the same place, the later
   * takes the place of the earlier. Throws an error that names the field, beginning with `field`,
   * where it must not be kept: what can be known of an address without looking it up is looked at here.
   */
  prepare(caller: PushCaller, config: PushConfig, field: string): WebhookDraft;
  set(caller: PushCaller, task: TaskId, config: PushConfig): Promise<KeptPushConfig>;
  /** Without an id: the latest. `undefined`: there is none, and the policy calls that an answer. */
  get(caller: PushCaller, task: TaskId, id: string | undefined): Promise<KeptPushConfig | undefined>;
  list(caller: PushCaller, task: TaskId): Promise<readonly KeptPushConfig[]>;
  /** Also where there is none of that id. Without an id: the latest. */
  delete(caller: PushCaller, task: TaskId, id: string | undefined): Promise<void>;
  /** How many configurations one task may have. */
  readonly maxPerTask: number;
  /** The message that a draft came with is durable, and the draft with it, as part of the task of this key: it is told from now on. */
  stored(key: TaskId, draft: WebhookDraft): void;
}

/** What became of one delivery, for hooks, logs and lists. */
export type DeliveryOutcome = "delivered" | "retried" | "given-up" | "refused" | "dropped";

/** One try to deliver something, told after the fact. */
export interface DeliveryRecord {
  readonly taskId: string;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string;
  readonly configId: string;
  /** Where it went, without its query. */
  readonly url: string;
  readonly outcome: DeliveryOutcome;
  /** The last event it told of. */
  readonly seq: number;
  /** Which try this was, from 1. */
  readonly attempt: number;
  /** Of the answer, where there was one. */
  readonly httpStatus?: number;
  /** Absent where it was delivered. */
  readonly reason?: string;
  readonly durationMs: number;
}

export interface PushHooks {
  readonly on?: {
    /** A failing handler is logged and changes nothing. */
    delivery?(record: DeliveryRecord): void | Promise<void>;
  };
}

/** A delivery that was given up, as operators see it. */
export interface DeadLetter {
  readonly taskId: string;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string;
  readonly configId: string;
  /** Where it should have gone, without its query. */
  readonly url: string;
  readonly outcome: Extract<DeliveryOutcome, "given-up" | "refused" | "dropped">;
  readonly reason: string;
  /** The first event that was not told; all later ones wait behind it. */
  readonly seq: number;
  readonly attempts: number;
  /** ISO 8601. */
  readonly failedAt: string;
}

/** The scope is needed beside `taskId` only where the caller chose the task's id itself. */
export interface DeadLettersQuery extends Partial<Scope> {
  /** Default 100. */
  readonly limit?: number | undefined;
  /** Only those of this task. */
  readonly taskId?: string | undefined;
  /** Only those after this one of the list, which goes from new to old. */
  readonly after?: DeadLetter | undefined;
}

/** What names one dead letter. The scope is needed only where the caller chose the task's id itself. */
export type DeadLetterRef = Pick<DeadLetter, "taskId" | "configId"> & Partial<Scope>;
