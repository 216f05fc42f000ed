import type { TaskId } from "../../../protocol/ids.ts";
import type { WebhookRecord } from "../../contract.ts";
import { webhookStateOf } from "./webhook-state.ts";

/** The columns of `webhook` joined with `task` from which {@link webhookRecordOf} makes a record. */
export const WEBHOOK_COLUMNS: string = `n, task.id AS task_id, webhook.id AS id, webhook.state AS state, cursor, attempts, next_at, webhook.epoch AS epoch,
  webhook.node AS node, at, unnamed, failed_at, failure, webhook.dialect AS dialect, body`;

/** The task of a row with {@link WEBHOOK_COLUMNS}. */
export function taskIdOf(row: Record<string, unknown>): TaskId {
  return String(row["task_id"]) as TaskId; // Safe cast: written from a TaskId.
}

export function webhookRecordOf(row: Record<string, unknown>): WebhookRecord {
  const { failure, node } = row;
  return {
    task: taskIdOf(row),
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
