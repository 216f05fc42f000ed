import assert from "node:assert/strict";
import type { TaskId } from "../../protocol/ids.ts";
import type { Store, StoreOperation, TaskRecord, WebhookKey, WebhookRecord } from "../../store/contract.ts";
import { claimQuery, taskId } from "../store-operations.ts";

/** The status of each outcome of one batch. */
export async function outcomes(store: Store, ...operations: readonly StoreOperation[]): Promise<string[]> {
  return (await store.commit(operations)).map((outcome) => outcome.status);
}

/** A stored task with its whole history and its artifacts. */
export async function recordOf(store: Store, id: TaskId = taskId(1)): Promise<TaskRecord> {
  const record = await store.get(id, { artifacts: true });
  assert(record !== undefined, `no task ${id}`);
  return record;
}

/** The webhooks of a task, each as `id state cursor`. */
export async function webhookStates(store: Store, task: TaskId = taskId(1)): Promise<string[]> {
  return (await store.webhooks(task)).map(({ id, state, cursor }) => `${id} ${state} ${cursor}`);
}

/** One webhook of a task. */
export async function webhookIn(store: Store, id: string, task: TaskId = taskId(1)): Promise<WebhookRecord> {
  const record = (await store.webhooks(task)).find((webhook) => webhook.id === id);
  assert(record !== undefined, `no webhook ${id} of ${task}`);
  return record;
}

/** The active webhooks that no living node has, each as `task/id`, in the order in which a node claims them. They stay unclaimed. */
export async function unclaimedWebhooks(store: Store, limit = 9): Promise<string[]> {
  const node = "finder";
  await store.heartbeat(node, 1000);
  const found = await store.claimWebhooks(claimQuery(node, { limit }));
  await store.leave(node);
  return webhookKeys(found.map(({ webhook }) => webhook));
}

/** `task/id` of each webhook, with the number of the example task. */
export function webhookKeys(webhooks: readonly WebhookKey[]): string[] {
  return webhooks.map(({ task, id }) => `${Number(task.slice(5))}/${id}`);
}
