import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { TaskId } from "../../../protocol/ids.ts";
import type { FailedWebhooksQuery, WebhookRecord } from "../../contract.ts";
import { failedWebhooks } from "../../failed-webhooks.ts";
import { inTransaction } from "../connection.ts";
import { webhookStateOf } from "../row/webhook-state.ts";

const COLUMNS = `n, task.id AS task_id, webhook.id AS id, webhook.state AS state, cursor, attempts, next_at, webhook.epoch AS epoch,
  webhook.node AS node, at, unnamed, failed_at, failure, webhook.dialect AS dialect, body`;

export class WebhookReader {
  readonly #database: DatabaseSync;
  readonly #ofTask: StatementSync;
  readonly #claimants: StatementSync;
  readonly #claimedBy: StatementSync;
  readonly #failed: StatementSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
    this.#ofTask = database.prepare(
      `SELECT ${COLUMNS} FROM task JOIN webhook ON webhook.task = task.pk WHERE task.id = ? ORDER BY n`,
    );
    // Skips from node to node in the index, whatever number of webhooks each has.
    this.#claimants = database.prepare(
      `WITH RECURSIVE claimant (node) AS (
         SELECT min(node) FROM webhook INDEXED BY webhook_active WHERE state = 0 AND node IS NOT NULL
         UNION ALL
         SELECT (SELECT min(node) FROM webhook INDEXED BY webhook_active WHERE state = 0 AND node > claimant.node)
         FROM claimant WHERE claimant.node IS NOT NULL
       ) SELECT node FROM claimant WHERE node IS NOT NULL`,
    );
    this.#claimedBy = database.prepare(
      `SELECT ${COLUMNS} FROM webhook INDEXED BY webhook_active JOIN task ON task.pk = webhook.task
       WHERE webhook.state = 0 AND webhook.node IS ? ORDER BY next_at, n LIMIT ?`,
    );
    this.#failed = database.prepare(
      `SELECT ${COLUMNS} FROM webhook INDEXED BY webhook_failed JOIN task ON task.pk = webhook.task
       WHERE webhook.state >= 2 AND failed_at <= ?1 AND (failed_at < ?1 OR (task.id, webhook.id) > (?2, ?3))
       ORDER BY failed_at DESC, task.id, webhook.id LIMIT ?4`,
    );
  }

  of(task: TaskId): WebhookRecord[] {
    return this.#ofTask.all(task).map(recordOf);
  }

  /** Active webhooks that none of these nodes has claimed. */
  unheld(living: readonly string[], limit: number): WebhookRecord[] {
    return inTransaction(this.#database, () => {
      const claimants = this.#claimants.all().map((row) => String(row["node"]));
      const gone = claimants.filter((node) => !living.includes(node));
      const rows = [null, ...gone].flatMap((node) => this.#claimedBy.all(node, limit));
      if (gone.length > 0) rows.sort(earliestFirst);
      return rows.slice(0, limit).map(recordOf);
    });
  }

  failed(query: FailedWebhooksQuery): readonly WebhookRecord[] {
    if (query.task !== undefined) return failedWebhooks(this.of(query.task), query);
    const { before = Number.MAX_SAFE_INTEGER, beyond, limit } = query;
    return this.#failed.all(before, beyond?.task ?? null, beyond?.id ?? null, limit).map(recordOf);
  }
}

function earliestFirst(a: Record<string, unknown>, b: Record<string, unknown>): number {
  return Number(a["next_at"]) - Number(b["next_at"]) || Number(a["n"]) - Number(b["n"]);
}

function recordOf(row: Record<string, unknown>): WebhookRecord {
  const { failure, node } = row;
  return {
    task: String(row["task_id"]) as TaskId, // Safe cast: written from a TaskId.
    id: String(row["id"]),
    dialect: String(row["dialect"]),
    body: String(row["body"]),
    unnamed: row["unnamed"] === 1,
    at: Number(row["at"]),
    state: webhookStateOf(Number(row["state"])),
    cursor: Number(row["cursor"]),
    attempts: Number(row["attempts"]),
    nextAt: Number(row["next_at"]),
    ...(typeof failure === "string" && { failure }),
    ...(row["failed_at"] !== null && { failedAt: Number(row["failed_at"]) }),
    epoch: Number(row["epoch"]),
    ...(typeof node === "string" && { node }),
  };
}
