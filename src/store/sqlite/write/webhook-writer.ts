import type { DatabaseSync, StatementSync } from "node:sqlite";
import type {
  Outcome,
  WebhookAdvance,
  WebhookClaim,
  WebhookDraft,
  WebhookOperation,
  WebhookSet,
} from "../../contract.ts";
import { excess, hasFailed } from "../../failed-webhooks.ts";
import { FENCED, FULL, INBOX, NOT_FOUND, OK } from "../../outcomes.ts";
import { WEBHOOK_STATE_CODE, webhookStateOf } from "../row/webhook-state.ts";
import type { JournalWriter } from "./journal-writer.ts";
import type { OpenTask } from "./open-task.ts";

/** The columns that decide about an operation on a webhook. */
interface WebhookRow {
  readonly n: number;
  readonly id: string;
  readonly state: number;
  readonly cursor: number;
  readonly epoch: number;
  readonly node: string | null;
  readonly dialect: string;
}

const { active: ACTIVE, suspended: SUSPENDED, removed: REMOVED } = WEBHOOK_STATE_CODE;

/** Applies webhook operations within the open transaction. It remembers nothing that a rollback would invalidate. */
export class WebhookWriter {
  readonly #ofTask: StatementSync;
  readonly #one: StatementSync;
  readonly #upsert: StatementSync;
  readonly #delete: StatementSync;
  readonly #claim: StatementSync;
  readonly #advance: StatementSync;
  readonly #revive: StatementSync;
  readonly #leave: StatementSync;
  readonly #notWhole: StatementSync;
  readonly #journal: JournalWriter;
  /**
   * The highest epoch assigned since the file was opened. It never falls, so that a webhook that is deleted and set again never gets an epoch
   * that a running delivery still uses. Deliveries of an earlier process ended with it.
   */
  #epoch = 0;

  constructor(database: DatabaseSync, journal: JournalWriter) {
    this.#journal = journal;
    const columns = "n, id, state, cursor, epoch, node, dialect";
    this.#ofTask = database.prepare(`SELECT ${columns} FROM webhook WHERE task = ? ORDER BY n`);
    this.#one = database.prepare(`SELECT ${columns} FROM webhook WHERE task = ? AND id = ?`);
    this.#upsert = database.prepare(
      `INSERT INTO webhook (task, id, state, cursor, attempts, next_at, epoch, at, unnamed, dialect, body)
       VALUES (?1, ?2, 0, ?3, 0, ?5, ?4, ?5, ?6, ?7, ?8)
       ON CONFLICT (task, id) DO UPDATE SET state = 0, cursor = ?3, attempts = 0, next_at = ?5, epoch = ?4, node = NULL, at = ?5,
         unnamed = ?6, failed_at = NULL, failure = NULL, dialect = ?7, body = ?8`,
    );
    this.#delete = database.prepare("DELETE FROM webhook WHERE n = ?");
    this.#claim = database.prepare("UPDATE webhook SET node = ?, epoch = ? WHERE n = ?");
    this.#advance = database.prepare(
      `UPDATE webhook SET state = ?, cursor = ?, attempts = ?, next_at = ?, node = ?, failed_at = ?, failure = ? WHERE n = ?`,
    );
    this.#revive = database.prepare(
      `UPDATE webhook SET state = 0, attempts = 0, next_at = ?, epoch = ?, failed_at = NULL, failure = NULL WHERE n = ?`,
    );
    this.#leave = database.prepare("UPDATE webhook SET node = NULL WHERE state = 0 AND node = ?");
    this.#notWhole = database.prepare("UPDATE task SET whole = 0 WHERE pk = ? AND whole = 1");
  }

  /** Stores the webhook that a task is created with. The task's row must have `whole = 0`. */
  begin(task: OpenTask, draft: WebhookDraft): void {
    this.#put(task, draft, { cursor: 0, epoch: this.#nextEpoch(0) });
  }

  /** `scope` is the number of the command's scope; `undefined` if the file has no such scope. */
  set(task: OpenTask, command: WebhookSet, scope: number | undefined): Outcome {
    if (scope !== task.scope) return NOT_FOUND;
    const { webhook, only, maxPerTask } = command;
    const rows = this.#ofTask.all(task.pk).map(webhookRow);
    const present = rows.find((row) => row.id === webhook.id);
    const others = rows.filter((row) => row !== present);
    const removed = others.filter((row) => row.state === REMOVED);
    const kept = others.filter((row) => row.state !== REMOVED);
    const replaced = only ? kept.filter((row) => row.dialect === webhook.dialect) : [];
    const isNew = present === undefined || present.state === REMOVED;
    if (isNew && kept.length - replaced.length >= maxPerTask) return FULL;
    for (const { n } of [...replaced, ...excess(removed, maxPerTask)]) this.#delete.run(n);
    if (task.ended) this.#notWhole.run(task.pk);
    const start = task.ended ? task.seq - 1 : task.seq;
    // Pending events must be delivered to the new target.
    const pending = [...(present === undefined ? [] : [present]), ...replaced]
      .filter(({ state }) => state === ACTIVE || state === SUSPENDED)
      .map((row) => row.cursor);
    const cursor = pending.length > 0 ? Math.min(...pending) : start;
    this.#put(task, webhook, { cursor, epoch: this.#nextEpoch(present?.epoch ?? 0) });
    return OK;
  }

  apply(task: OpenTask, command: Exclude<WebhookOperation, WebhookSet>, living: readonly string[]): Outcome {
    const found = this.#one.get(task.pk, command.id);
    if (found === undefined) return NOT_FOUND;
    const row = webhookRow(found);
    switch (command.kind) {
      case "webhook-delete":
        this.#delete.run(row.n);
        return OK;
      case "webhook-claim":
        return this.#take(row, command, living);
      case "webhook-advance":
        return this.#note(task, row, command);
      case "webhook-revive":
        if (!hasFailed(webhookStateOf(row.state))) return NOT_FOUND;
        this.#revive.run(command.at, this.#nextEpoch(row.epoch), row.n);
        return OK;
    }
  }

  /** Claims an active webhook that no living node has claimed. Returns the new epoch. */
  claimFree(n: number, epoch: number, node: string): number {
    const next = this.#nextEpoch(epoch);
    this.#claim.run(node, next, n);
    return next;
  }

  leave(node: string): void {
    this.#leave.run(node);
  }

  #put(
    task: OpenTask,
    { id, dialect, body, unnamed, at }: WebhookDraft,
    { cursor, epoch }: { readonly cursor: number; readonly epoch: number },
  ): void {
    this.#upsert.run(task.pk, id, cursor, epoch, at, unnamed ? 1 : 0, dialect, body);
  }

  #take({ n, state, epoch, node }: WebhookRow, claim: WebhookClaim, living: readonly string[]): Outcome {
    if (state !== ACTIVE) return NOT_FOUND;
    if (node !== null && living.includes(node)) return { status: "held", node };
    return { status: "ok", epoch: this.claimFree(n, epoch, claim.node) };
  }

  #note(task: OpenTask, { n, state, epoch, node }: WebhookRow, advance: WebhookAdvance): Outcome {
    if (state !== ACTIVE || epoch !== advance.epoch) return FENCED;
    const { cursor, attempts, nextAt, failure, journal } = advance;
    if (journal !== undefined) this.#journal.add(task.pk, [journal]);
    const isRefused = advance.state === "idle" && (!task.ended || cursor < task.seq);
    const next = isRefused ? "active" : advance.state;
    this.#advance.run(
      WEBHOOK_STATE_CODE[next],
      cursor,
      attempts,
      nextAt,
      next === "active" ? node : null,
      advance.failedAt ?? (hasFailed(next) ? nextAt : null),
      failure ?? null,
      n,
    );
    return isRefused ? INBOX : OK;
  }

  #nextEpoch(epoch: number): number {
    this.#epoch = Math.max(this.#epoch, epoch) + 1;
    return this.#epoch;
  }
}

function webhookRow(row: Record<string, unknown>): WebhookRow {
  return {
    n: Number(row["n"]),
    id: String(row["id"]),
    state: Number(row["state"]),
    cursor: Number(row["cursor"]),
    epoch: Number(row["epoch"]),
    node: typeof row["node"] === "string" ? row["node"] : null,
    dialect: String(row["dialect"]),
  };
}
