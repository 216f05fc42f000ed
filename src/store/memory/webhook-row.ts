import type { WebhookRecord } from "../contract.ts";

export interface WebhookRow {
  /** Which was first set before which. */
  readonly serial: number;
  record: WebhookRecord;
}
