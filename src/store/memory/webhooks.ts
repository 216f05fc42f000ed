import type {
  Outcome,
  WebhookAdvance,
  WebhookClaim,
  WebhookDraft,
  WebhookKey,
  WebhookOperation,
  WebhookRecord,
  WebhookSet,
} from "../contract.ts";
import { excess, hasFailed } from "../failed-webhooks.ts";
import { FENCED, FULL, INBOX, NOT_FOUND, OK } from "../outcomes.ts";
import type { TaskRow } from "./task-row.ts";
import type { WebhookRow } from "./webhook-row.ts";

/** The webhooks of all tasks. Each task row has its own webhooks by id; this class also indexes active and failed webhooks over all tasks. */
export class Webhooks {
  readonly #active = new Set<WebhookRow>();
  readonly #failed = new Set<WebhookRow>();
  readonly #isLiving: (node: string) => boolean;
  #serial = 0;
  /** One counter for all webhooks, so that a webhook that is deleted and set again never gets an epoch that a delivery still uses. */
  #epoch = 0;

  constructor(isLiving: (node: string) => boolean) {
    this.#isLiving = isLiving;
  }

  /** Stores the webhook that a task is created with. */
  begin(task: TaskRow, draft: WebhookDraft): void {
    this.#put(task, draft, 0);
  }

  /** The caller has checked the scope. */
  apply(task: TaskRow, operation: WebhookOperation): Outcome {
    if (operation.kind === "webhook-set") return this.#set(task, operation);
    const row = task.webhooks?.get(operation.id);
    if (row === undefined) return NOT_FOUND;
    switch (operation.kind) {
      case "webhook-delete":
        return this.#delete(task, row);
      case "webhook-claim":
        return this.#claim(row, operation);
      case "webhook-advance":
        return this.#advance(task, row, operation);
      case "webhook-revive":
        if (!hasFailed(row.record.state)) return NOT_FOUND;
        this.#change(row, { ...keyAndDraft(row.record), ...this.#afresh(operation.at, row.record.cursor) });
        return OK;
    }
  }

  of(task: TaskRow): readonly WebhookRecord[] {
    return Array.from(task.webhooks?.values() ?? [])
      .sort((a, b) => a.serial - b.serial)
      .map((row) => row.record);
  }

  /** Claims the active webhooks that no living node has claimed, earliest `nextAt` first, as far as `isIncluded` accepts them. */
  claimUnheld(node: string, limit: number, isIncluded: (webhook: WebhookKey) => boolean): readonly WebhookRecord[] {
    return Array.from(this.#active)
      .filter(({ record }) => !this.#isHeld(record) && isIncluded(record))
      .sort((a, b) => a.record.nextAt - b.record.nextAt || a.serial - b.serial)
      .slice(0, limit)
      .map((row) => {
        row.record = { ...row.record, node, epoch: ++this.#epoch };
        return row.record;
      });
  }

  /** The webhooks that the node has claimed. */
  *claimedBy(node: string): Generator<WebhookRecord> {
    for (const { record } of this.#active) if (record.node === node) yield record;
  }

  *failed(): Generator<WebhookRecord> {
    for (const row of this.#failed) yield row.record;
  }

  /** Whether the task has an active webhook. */
  hasActive(task: TaskRow): boolean {
    for (const { record } of task.webhooks?.values() ?? []) if (record.state === "active") return true;
    return false;
  }

  leave(node: string): void {
    for (const row of this.#active) {
      if (row.record.node !== node) continue;
      const { node: _, ...record } = row.record;
      row.record = record;
    }
  }

  /** Deletes all webhooks of a task that is being deleted. */
  drop(task: TaskRow): void {
    for (const row of task.webhooks?.values() ?? []) this.#unlist(row);
    task.webhooks = undefined;
  }

  #set(task: TaskRow, { webhook, only, maxPerTask }: WebhookSet): Outcome {
    const others = Array.from(task.webhooks?.values() ?? []).filter(({ record }) => record.id !== webhook.id);
    const removed = others.filter(({ record }) => record.state === "removed").sort((a, b) => a.serial - b.serial);
    const kept = others.filter(({ record }) => record.state !== "removed");
    const replaced = only ? kept.filter(({ record }) => record.dialect === webhook.dialect) : [];
    const present = task.webhooks?.get(webhook.id)?.record;
    const isNew = present === undefined || present.state === "removed";
    if (isNew && kept.length - replaced.length >= maxPerTask) return FULL;
    for (const row of [...replaced, ...excess(removed, maxPerTask)]) this.#delete(task, row);
    const start = task.ended ? task.seq - 1 : task.seq;
    // Pending events must be delivered to the new target.
    const pending = [...(present === undefined ? [] : [present]), ...replaced.map(({ record }) => record)]
      .filter(({ state }) => state === "active" || state === "suspended")
      .map(({ cursor }) => cursor);
    this.#put(task, webhook, pending.length > 0 ? Math.min(...pending) : start);
    return OK;
  }

  #put(task: TaskRow, { id, dialect, body, unnamed, at }: WebhookDraft, cursor: number): void {
    task.webhooks ??= new Map();
    const record = { task: task.id, id, dialect, body, unnamed, at, ...this.#afresh(at, cursor) };
    const row = task.webhooks.get(id) ?? { serial: ++this.#serial, record };
    task.webhooks.set(id, row);
    this.#change(row, record);
  }

  #delete(task: TaskRow, row: WebhookRow): Outcome {
    this.#unlist(row);
    task.webhooks?.delete(row.record.id);
    if (task.webhooks?.size === 0) task.webhooks = undefined;
    return OK;
  }

  #claim(row: WebhookRow, { node }: WebhookClaim): Outcome {
    const { record } = row;
    if (record.state !== "active") return NOT_FOUND;
    if (record.node !== undefined && this.#isHeld(record)) return { status: "held", node: record.node };
    const epoch = ++this.#epoch;
    row.record = { ...record, node, epoch };
    return { status: "ok", epoch };
  }

  #advance(task: TaskRow, row: WebhookRow, advance: WebhookAdvance): Outcome {
    const { record } = row;
    if (record.state !== "active" || record.epoch !== advance.epoch) return FENCED;
    const { cursor, attempts, nextAt, failure, journal } = advance;
    if (journal !== undefined) task.journal.set(journal.key, journal);
    const failedAt = advance.failedAt ?? (hasFailed(advance.state) ? nextAt : undefined);
    const isRefused = advance.state === "idle" && (!task.ended || cursor < task.seq);
    const state = isRefused ? "active" : advance.state;
    this.#change(row, {
      ...keyAndDraft(record),
      state,
      cursor,
      attempts,
      nextAt,
      epoch: record.epoch,
      ...(failure !== undefined && { failure }),
      ...(failedAt !== undefined && { failedAt }),
      ...(state === "active" && record.node !== undefined && { node: record.node }),
    });
    return isRefused ? INBOX : OK;
  }

  #change(row: WebhookRow, record: WebhookRecord): void {
    this.#unlist(row);
    row.record = record;
    if (record.state === "active") this.#active.add(row);
    else if (hasFailed(record.state)) this.#failed.add(row);
  }

  #unlist(row: WebhookRow): void {
    this.#active.delete(row);
    this.#failed.delete(row);
  }

  #afresh(nextAt: number, cursor: number): Omit<WebhookRecord, keyof WebhookDraft | "task"> {
    return { state: "active", cursor, attempts: 0, nextAt, epoch: ++this.#epoch };
  }

  #isHeld({ node }: WebhookRecord): boolean {
    return node !== undefined && this.#isLiving(node);
  }
}

function keyAndDraft({ task, id, dialect, body, unnamed, at }: WebhookRecord): WebhookDraft & WebhookKey {
  return { task, id, dialect, body, unnamed, at };
}
