// One turn of a webhook: reads its pending events from the task's log, sends them in order, and stores how far it got. A notification is
// sent before its delivery is recorded, so a crash in between repeats it, with the same id (`jti`).

import { createHash } from "node:crypto";
import type { NodeLease } from "../engine/record/node-lease.ts";
import { readRunner } from "../engine/record/runner-record.ts";
import type { Sealer } from "../engine/record/seal.ts";
import type { Clock } from "../internal/clock.ts";
import { isTerminal } from "../protocol/state.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import type { TraceContext } from "../protocol/trace-context.ts";
import type {
  JournalRecord,
  Store,
  TaskHead,
  TaskRecord,
  WebhookAdvance,
  WebhookRecord,
  WebhookState,
} from "../store/contract.ts";
import type { DeliveryEnd, Span, Telemetry } from "../telemetry/contract.ts";
import type { PushCodec } from "../wire/codec.ts";
import { type RetrySettings, waitAfter } from "./back-off.ts";
import type { Budget } from "./budget.ts";
import type { ClaimedWebhook } from "./claimed-webhooks.ts";
import type { DeadLetter, DeliveryOutcome, DeliveryRecord } from "./contract.ts";
import type { DeliveryCommits } from "./delivery-commits.ts";
import { DeliveryJournal } from "./delivery-journal.ts";
import { type HttpSender, type PostResult, post } from "./http-sender.ts";
import { PendingEvents, type Step } from "./pending-events.ts";
import { requestHeaders } from "./request-headers.ts";
import { openTarget, shownUrl, type WebhookTarget } from "./webhook-target.ts";

/** Signs notifications, so that receivers can verify who sent them. */
export interface NotificationSigner {
  sign(claims: NotificationClaims): Promise<string>;
}

/** What a signature of a notification covers. */
export interface NotificationClaims {
  /** The webhook's URL. */
  readonly url: string;
  /** Identifies the notification; the same for every attempt to deliver it. */
  readonly jti: string;
  readonly taskId: string;
  readonly body: string;
}

/** How often, and for how long, a delivery is tried. */
export interface DeliverySettings extends RetrySettings {
  /** Milliseconds that one attempt may take. */
  readonly timeout: number;
}

/** What all turns share. */
export interface DeliveryEnvironment {
  /** The id of this process. */
  readonly node: string;
  readonly telemetry: Telemetry | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly commits: DeliveryCommits;
  readonly sender: HttpSender;
  /** `undefined`: notifications are not signed. */
  readonly signer: NotificationSigner | undefined;
  /** By the dialect in which the webhook was registered: the receiver expects that format, whichever version caused the event. */
  readonly codecOf: (dialect: string) => PushCodec | undefined;
  readonly settings: DeliverySettings;
  /** Between 0 and 1, for jitter. */
  readonly random: () => number;
  /** Bytes in memory, over all turns; see `PendingOptions`. */
  readonly budget: Budget;
  /** How many whole tasks may be rebuilt at a time. */
  readonly replays: Budget;
  /** Called after every attempt. */
  readonly report: (record: DeliveryRecord) => void;
  readonly isStopping: () => boolean;
  /** Whether this process may still act for its webhooks. Absent: always. */
  readonly lease?: NodeLease | undefined;
}

/**
 * What to do with a webhook after its turn. `continue`: queue it again. `wait`: until the next event. `retry`: at `until`, whatever happens
 * before. `pause`: until `until` or the next event, whichever comes first. `release`: this process is no longer responsible for it.
 */
export type AfterTurn =
  | { readonly kind: "continue" | "wait" | "release" }
  | { readonly kind: "retry" | "pause"; readonly until: number };

/** What one turn showed about the webhook and its host. */
export interface TurnResult {
  readonly after: AfterTurn;
  /** True if the host did not answer; absent if no request was sent. */
  readonly silent?: boolean | undefined;
}

/** Notifications that a webhook may send in one turn before others get theirs. */
const POSTS_PER_TURN = 32;
/** Minimum pause between whole-task notifications about chunks: 1 s + 10 s per MB. */
const QUIET_MS = 1000;
const QUIET_MS_PER_BYTE = 0.01;

/** Delivers a webhook's pending events in order, up to 32 notifications. Rejects if the store cannot be read or written. */
export async function takeTurn(environment: DeliveryEnvironment, claimed: ClaimedWebhook): Promise<TurnResult> {
  const { store, sealer, codecOf, lease } = environment;
  const term = lease?.term ?? 0;
  const webhook = (await store.webhooks(claimed.task)).find(({ id }) => id === claimed.id);
  const record = await store.get(claimed.task, { artifacts: false, history: 0 });
  // The webhook was deleted, replaced, or claimed by another process.
  if (record === undefined || webhook?.epoch !== claimed.epoch || webhook.state !== "active") {
    return { after: { kind: "release" } };
  }
  claimed.deliveredSeq = webhook.cursor;
  const target = openTarget(sealer, webhook, record.scope);
  const codec = codecOf(webhook.dialect);
  const turn = new Turn(environment, { claimed, webhook, record, term });
  if (target !== undefined && codec !== undefined) return turn.run(target, codec);
  const reason =
    target === undefined ? "the key that encrypted its configuration is lost" : "its protocol version is not supported";
  return { after: await turn.unreadable(reason) };
}

/** The events up to `upTo` were delivered, or skipped without a journal record. */
interface Passed extends Pick<Step, "upTo" | "ended"> {
  readonly journal?: JournalRecord;
}

/** How a notification is sent. */
interface Sending {
  readonly codec: PushCodec;
  readonly trace: TraceContext | undefined;
}

type FailedPost = Extract<PostResult, { readonly kind: "failed" }>;

/** The webhook as claimed, as stored at the beginning of the turn, and its task. */
interface Subject {
  readonly claimed: ClaimedWebhook;
  readonly webhook: WebhookRecord;
  readonly record: TaskRecord;
  /** The term of the lease in which the claim was read from the store. */
  readonly term: number;
}

class Turn {
  readonly #environment: DeliveryEnvironment;
  readonly #subject: Subject;
  readonly #journal: DeliveryJournal;
  #cursor: number;
  #attempts: number;
  #silent: boolean | undefined;

  constructor(environment: DeliveryEnvironment, subject: Subject) {
    this.#environment = environment;
    this.#subject = subject;
    const { claimed } = subject;
    const { clock, node } = environment;
    claimed.journal ??= new DeliveryJournal({ webhook: claimed.id, node, now: () => clock.now() });
    this.#journal = claimed.journal;
    this.#cursor = subject.webhook.cursor;
    this.#attempts = subject.webhook.attempts;
  }

  async run(target: WebhookTarget, codec: PushCodec): Promise<TurnResult> {
    const after = await this.#deliverPending(target, codec);
    return { after, silent: this.#silent };
  }

  /** The configuration cannot be used: suspends the webhook. */
  async unreadable(reason: string): Promise<AfterTurn> {
    return this.#giveUp({ outcome: "given-up", reason, url: "", state: "suspended" });
  }

  /** Notifications of a whole task pause after each chunk: a task that streams a large text would otherwise be sent again and again. */
  async #deliverPending(target: WebhookTarget, codec: PushCodec): Promise<AfterTurn> {
    const { store, clock, budget, replays, isStopping } = this.#environment;
    const { claimed, record } = this.#subject;
    if (codec.carries === "task" && clock.now() < claimed.quietUntil && markOf(record.head) === claimed.status) {
      return { kind: "pause", until: claimed.quietUntil };
    }
    const { events } = target;
    const place = {
      task: claimed.task,
      contextId: record.contextId,
      firstSeq: record.firstSeq,
      origin: record.dialect,
    };
    using pending = new PendingEvents(
      { store, ...place, codec, events, budget, replays, now: () => clock.now() },
      this.#cursor,
    );
    for (let posts = 0; posts < POSTS_PER_TURN; posts++) {
      if (isStopping() || claimed.phase === "released") return { kind: "release" };
      const step = await pending.next();
      if (step === undefined) return await this.#caughtUp();
      if (step.notification === undefined) {
        const passed = await this.#advance(step);
        if (passed !== undefined) return passed;
        continue;
      }
      const failed = await this.#deliver(step, target, codec);
      if (failed !== undefined) return failed;
      if (codec.carries === "task" && step.notification.kind === "artifact") {
        claimed.quietUntil = clock.now() + QUIET_MS + Math.round(step.notification.body.length * QUIET_MS_PER_BYTE);
        claimed.status = markOf(record.head);
        return { kind: "pause", until: claimed.quietUntil };
      }
    }
    return { kind: "continue" };
  }

  /** No event is pending. */
  async #caughtUp(): Promise<AfterTurn> {
    const { record } = this.#subject;
    if (!isTerminal(record.head.state)) return { kind: "wait" };
    return (await this.#advance({ upTo: this.#cursor, ended: true })) ?? { kind: "wait" };
  }

  /** `undefined`: continue with the next step. */
  async #deliver(step: Step, target: WebhookTarget, codec: PushCodec): Promise<AfterTurn | undefined> {
    const began = performance.now();
    this.#journal.began(this.#cursor + 1);
    const span = this.#observe(step);
    const result = await this.#post(step, target, { codec, trace: span?.trace ?? traceOf(step, this.#subject.record) });
    span?.end({ outcome: result.kind, httpStatus: "httpStatus" in result ? result.httpStatus : undefined });
    if (result.kind === "aborted") return { kind: "release" };
    this.#attempts += 1;
    this.#silent = result.kind === "failed" && result.silent;
    const { settings } = this.#environment;
    const isLast = this.#attempts > settings.retries;
    const outcome = outcomeOf(result, isLast);
    this.#report(outcome, { step, target, result, durationMs: Math.round(performance.now() - began) });
    switch (result.kind) {
      case "delivered":
        return this.#advance({ ...step, journal: this.#journal.delivered(step.upTo) });
      case "gone":
        return this.#fail("dropped", target, { reason: "HTTP 410", state: "removed" });
      case "refused":
        return this.#fail("refused", target, { reason: result.reason, state: target.afterFailure });
      case "failed":
        if (isLast) return this.#fail("given-up", target, { reason: result.reason, state: target.afterFailure });
        return this.#retry(result);
    }
  }

  #observe(step: Step): Span<DeliveryEnd> | undefined {
    const { telemetry } = this.#environment;
    if (telemetry?.delivery === undefined) return undefined;
    const { claimed, record } = this.#subject;
    return telemetry.delivery({
      taskId: publicTaskId(claimed.task),
      agent: record.scope.agent,
      webhook: claimed.id,
      seq: step.upTo,
      attempt: this.#attempts + 1,
      trace: traceOf(step, record),
    });
  }

  /** Signed anew for every attempt: a signature is valid for 5 minutes only. */
  async #post(step: Step, target: WebhookTarget, { codec, trace }: Sending): Promise<PostResult> {
    const { clock, sender, signer, settings, lease } = this.#environment;
    const { claimed, term } = this.#subject;
    const { notification } = step;
    if (notification === undefined) return { kind: "aborted" };
    const { body } = notification;
    const abort = new AbortController();
    claimed.abort = abort;
    const taskId = publicTaskId(claimed.task);
    const jti = notificationId(claimed, target, step.upTo);
    const signature = await signer?.sign({ url: target.url, jti, taskId, body });
    const headers = requestHeaders({ target, codec, trace, signature });
    // Called again when the connection is open: this process may have been suspended, or cut from the store, while it connected.
    // Then another process may have sent this notification and later ones.
    const isLost = (): boolean => lease?.isStillFresh(term) === false;
    const beforeSend = (): void => {
      if (isLost() || claimed.phase === "released") abort.abort();
    };
    beforeSend();
    const { timeout } = settings;
    const { signal } = abort;
    const result = await post(sender, clock, { url: target.url, headers, body, timeout, signal, beforeSend });
    claimed.abort = undefined;
    if (result.kind === "aborted" && isLost())
      throw new Error("The lease of this process was not renewed in time; another one may notify this webhook.");
    return result;
  }

  /** Stores that everything up to `upTo` is delivered. `undefined`: continue with the next step. */
  async #advance({ upTo, ended, journal }: Passed): Promise<AfterTurn | undefined> {
    this.#cursor = upTo;
    this.#attempts = 0;
    const now = this.#environment.clock.now();
    const status = await this.#store({
      nextAt: now,
      state: ended ? "idle" : "active",
      ...(journal !== undefined && { journal }),
    });
    this.#subject.claimed.deliveredSeq = upTo;
    if (status === "inbox") return undefined;
    if (status !== "ok" || ended) return { kind: "release" };
    return undefined;
  }

  /** The time of the retry is stored, so that another process keeps to it after a crash. */
  async #retry({ retryAfter: askedFor, reason }: FailedPost): Promise<AfterTurn> {
    const { clock, settings, random } = this.#environment;
    const nextAt = clock.now() + waitAfter(settings, this.#attempts, { random, askedFor });
    const journal = this.#journal.failed("retrying", reason);
    const status = await this.#store({ nextAt, state: "active", journal });
    return status === "ok" ? { kind: "retry", until: nextAt } : { kind: "release" };
  }

  #fail(
    outcome: DeadLetter["outcome"],
    target: WebhookTarget,
    { reason, state }: { readonly reason: string; readonly state: WebhookState },
  ): Promise<AfterTurn> {
    return this.#giveUp({ outcome, reason, url: shownUrl(target.url), state });
  }

  async #giveUp({ state, ...failed }: Omit<Failure, "attempts"> & { state: WebhookState }): Promise<AfterTurn> {
    const failedAt = this.#environment.clock.now();
    const failure: Failure = { ...failed, attempts: this.#attempts };
    const journal = this.#journal.failed(failed.outcome, failed.reason);
    await this.#store({ nextAt: failedAt, state, failure: JSON.stringify(failure), failedAt, journal });
    return { kind: "release" };
  }

  /** The commit is refused if another process has claimed the webhook (`epoch`) or it was changed. */
  async #store(change: Pick<WebhookAdvance, "nextAt" | "state" | "failure" | "failedAt" | "journal">): Promise<string> {
    const { task, id, epoch } = this.#subject.claimed;
    const outcome = await this.#environment.commits.submit({
      kind: "webhook-advance",
      task,
      id,
      epoch,
      cursor: this.#cursor,
      attempts: this.#attempts,
      ...change,
    });
    return outcome.status;
  }

  /** Secrets and bodies are not reported, and of the URL only what is before the query. */
  #report(
    outcome: DeliveryOutcome,
    { step, target, result, durationMs }: { step: Step; target: WebhookTarget; result: PostResult; durationMs: number },
  ): void {
    const { claimed, record } = this.#subject;
    const reason = "reason" in result ? result.reason : result.kind === "gone" ? "HTTP 410" : undefined;
    this.#environment.report({
      taskId: publicTaskId(claimed.task),
      ...record.scope,
      configId: claimed.id,
      url: shownUrl(target.url),
      outcome,
      seq: step.upTo,
      attempt: this.#attempts,
      ...("httpStatus" in result && result.httpStatus !== undefined && { httpStatus: result.httpStatus }),
      ...(reason !== undefined && { reason }),
      durationMs,
    });
  }
}

/** The span in which the event was written; if the event does not name it, the one that created the task. */
function traceOf({ notification }: Step, { head }: TaskRecord): TraceContext | undefined {
  const trace = readRunner(head.runner).trace;
  const written = notification?.trace;
  if (written === undefined || trace === undefined || written.traceId !== trace.traceId) return written ?? trace;
  return { ...trace, spanId: written.spanId };
}

/** A failure as stored with its webhook. */
export interface Failure {
  readonly outcome: DeadLetter["outcome"];
  readonly reason: string;
  /** The webhook's URL without its query. */
  readonly url: string;
  readonly attempts: number;
}

function outcomeOf({ kind }: PostResult, isLast: boolean): DeliveryOutcome {
  if (kind === "delivered") return "delivered";
  if (kind === "gone") return "dropped";
  if (kind === "refused") return "refused";
  return isLast ? "given-up" : "retried";
}

/** Changes with every status, so that a new status ends the pause between whole-task notifications. */
function markOf({ state, status, statusAt }: TaskHead): string {
  return `${statusAt} ${state} ${status.length}`;
}

/** Derived only from stored data, so that it is the same after a crash. */
function notificationId({ task, id }: ClaimedWebhook, { nonce }: WebhookTarget, seq: number): string {
  return createHash("sha256")
    .update(JSON.stringify([task, id, nonce, seq]))
    .digest("base64url")
    .slice(0, 32);
}
