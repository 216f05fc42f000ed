import type { Sealer } from "../engine/record/seal.ts";
import { isoTime } from "../internal/iso-time.ts";
import type { TaskId } from "../protocol/ids.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import type { Store, TaskRecord, WebhookRecord } from "../store/contract.ts";
import type { ClaimedWebhook } from "./claimed-webhooks.ts";
import type { WebhookOverview, WebhookSummary } from "./contract.ts";
import { openTarget, shownUrl } from "./webhook-target.ts";

export interface WebhookViewOptions {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly claimed: () => Iterable<ClaimedWebhook>;
}

export function createWebhookView({ store, sealer, claimed }: WebhookViewOptions): WebhookOverview {
  const ofTask = async (task: TaskId): Promise<readonly WebhookSummary[]> => {
    const record = await store.get(task, { artifacts: false, history: 0 });
    if (record === undefined) return [];
    return (await store.webhooks(task)).map((webhook) => summaryOf(sealer, record, webhook));
  };
  return {
    ofTask,
    async claimed(limit) {
      const found: WebhookSummary[] = [];
      const seen = new Set<TaskId>();
      for (const { task } of claimed()) {
        if (found.length >= limit) break;
        if (seen.has(task)) continue;
        seen.add(task);
        found.push(...(await ofTask(task)).filter(({ state }) => state === "active"));
      }
      return found.slice(0, limit);
    },
  };
}

function summaryOf(sealer: Sealer, { scope, seq }: TaskRecord, webhook: WebhookRecord): WebhookSummary {
  const { task, id, dialect, state, cursor, attempts, nextAt, node } = webhook;
  return {
    task,
    taskId: publicTaskId(task),
    agent: scope.agent,
    configId: id,
    url: shownUrl(openTarget(sealer, webhook, scope)?.url ?? ""),
    dialect,
    state,
    deliveredSeq: cursor,
    lastSeq: seq,
    attempts,
    ...(attempts > 0 && { nextAt: isoTime(nextAt) }),
    ...(node !== undefined && { node }),
  };
}
