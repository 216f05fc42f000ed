import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { TaskId } from "../../../protocol/ids.ts";
import type { FailedWebhooksQuery, NodeClaims, WebhookRecord } from "../../contract.ts";
import { failedWebhooks } from "../../failed-webhooks.ts";
import { taskIdOf, WEBHOOK_COLUMNS, webhookRecordOf } from "../row/webhook-record.ts";

export class WebhookReader {
  readonly #ofTask: StatementSync;
  readonly #claimsOf: StatementSync;
  readonly #failed: StatementSync;

  constructor(database: DatabaseSync) {
    this.#ofTask = database.prepare(
      `SELECT ${WEBHOOK_COLUMNS} FROM task JOIN webhook ON webhook.task = task.pk WHERE task.id = ? ORDER BY n`,
    );
    this.#claimsOf = database.prepare(
      `SELECT task.id AS task_id, webhook.id AS id, webhook.epoch AS epoch
       FROM webhook INDEXED BY webhook_active JOIN task ON task.pk = webhook.task WHERE webhook.state = 0 AND webhook.node = ?`,
    );
    this.#failed = database.prepare(
      `SELECT ${WEBHOOK_COLUMNS} FROM webhook INDEXED BY webhook_failed JOIN task ON task.pk = webhook.task
       WHERE webhook.state >= 2 AND failed_at <= ?1 AND (failed_at < ?1 OR (task.id, webhook.id) > (?2, ?3))
       ORDER BY failed_at DESC, task.id, webhook.id LIMIT ?4`,
    );
  }

  of(task: TaskId): WebhookRecord[] {
    return this.#ofTask.all(task).map(webhookRecordOf);
  }

  /** The webhooks that this node has claimed. */
  claimsOf(node: string): NodeClaims["webhooks"] {
    return this.#claimsOf.all(node).map((row) => ({
      task: taskIdOf(row),
      id: String(row["id"]),
      epoch: Number(row["epoch"]),
    }));
  }

  failed(query: FailedWebhooksQuery): readonly WebhookRecord[] {
    if (query.task !== undefined) return failedWebhooks(this.of(query.task), query);
    const { before = Number.MAX_SAFE_INTEGER, beyond, limit } = query;
    return this.#failed.all(before, beyond?.task ?? null, beyond?.id ?? null, limit).map(webhookRecordOf);
  }
}
