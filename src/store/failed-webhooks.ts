import type { FailedWebhooksQuery, WebhookKey, WebhookRecord, WebhookState } from "./contract.ts";

/** Delivery to the webhook failed for good. */
export function hasFailed(state: WebhookState): boolean {
  return state === "suspended" || state === "removed";
}

/** The removed webhooks (oldest first) beyond the `most` that are kept: otherwise a caller could set failing webhooks without end. */
export function excess<T>(removed: readonly T[], most: number): readonly T[] {
  return removed.slice(0, Math.max(0, removed.length - most));
}

/** Implements `Store.failedWebhooks` over all records. */
export function failedWebhooks(
  records: Iterable<WebhookRecord>,
  { task, before, beyond, limit }: FailedWebhooksQuery,
): readonly WebhookRecord[] {
  const failed: WebhookRecord[] = [];
  for (const record of records) {
    if (!hasFailed(record.state) || (task !== undefined && record.task !== task)) continue;
    const at = record.failedAt ?? 0;
    const isNext = at === before && beyond !== undefined && byKey(record, beyond) > 0;
    if (before === undefined || at < before || isNext) failed.push(record);
  }
  return failed.sort((a, b) => (b.failedAt ?? 0) - (a.failedAt ?? 0) || byKey(a, b)).slice(0, limit);
}

function byKey(a: WebhookKey, b: WebhookKey): number {
  return compare(a.task, b.task) || compare(a.id, b.id);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
