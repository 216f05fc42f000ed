import type { WebhookRecord } from "../contract.ts";

/** A webhook in the memory store. */
export interface WebhookRow {
  /** Order in which the webhooks were first set. */
  readonly serial: number;
  record: WebhookRecord;
}
