import type { TaskId } from "../../../protocol/ids.ts";
import type { WebhookRecord, WebhookState } from "../../contract.ts";
import { originalText } from "./text.ts";

/** A row of the table `webhook`. */
export interface WebhookRow {
  readonly task: string;
  readonly id: string;
  readonly state: WebhookState;
  readonly cursor: number;
  readonly attempts: number;
  readonly next_at: number;
  readonly epoch: number;
  readonly node: string;
  readonly at: number;
  readonly unnamed: boolean;
  readonly failed_at: number | null;
  readonly failure: string | null;
  readonly dialect: string;
  readonly body: string;
}

export function webhookRecordOf(row: WebhookRow): WebhookRecord {
  const { state, cursor, attempts, epoch, node, at, unnamed, failed_at, failure, dialect } = row;
  return {
    task: originalText(row.task) as TaskId, // Safe: stored ids were task ids.
    ...{ id: originalText(row.id), dialect, body: originalText(row.body), unnamed, at },
    ...{ state, cursor, attempts, nextAt: row.next_at, epoch },
    ...(failure !== null && { failure: originalText(failure) }),
    ...(failed_at !== null && { failedAt: failed_at }),
    ...(node !== "" && { node: originalText(node) }),
  };
}
