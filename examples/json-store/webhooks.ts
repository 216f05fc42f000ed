import type {
  Outcome,
  WebhookAdvance,
  WebhookDraft,
  WebhookOperation,
  WebhookRecord,
  WebhookSet,
  WebhookState,
} from "palaver/store";
import { replaceByKey, type TaskDocument } from "./task-document.ts";

/** What the operations of webhooks need from the store. */
export interface WebhookParts {
  readonly isLiving: (node: string | undefined) => boolean;
  /** A number that was never used before. */
  readonly nextEpoch: () => number;
}

/** Applies an operation to the webhooks of a task. */
export function applyWebhook(task: TaskDocument, operation: WebhookOperation, parts: WebhookParts): Outcome {
  if (operation.kind === "webhook-set") return set(task, operation, parts);
  const index = task.webhooks.findIndex(({ id }) => id === operation.id);
  const webhook = task.webhooks[index];
  if (webhook === undefined) return { status: "not-found" };
  const { node, ...unclaimed } = webhook;
  switch (operation.kind) {
    case "webhook-delete":
      task.webhooks.splice(index, 1);
      return { status: "ok" };
    case "webhook-claim": {
      if (webhook.state !== "active") return { status: "not-found" };
      if (node !== undefined && parts.isLiving(node)) return { status: "held", node };
      const epoch = parts.nextEpoch();
      task.webhooks[index] = { ...unclaimed, node: operation.node, epoch };
      return { status: "ok", epoch };
    }
    case "webhook-advance":
      if (webhook.state !== "active" || webhook.epoch !== operation.epoch) return { status: "fenced" };
      return advance(task, index, operation);
    case "webhook-revive":
      if (!hasFailed(webhook.state)) return { status: "not-found" };
      task.webhooks[index] = fresh(task, webhook, { nextAt: operation.at, cursor: webhook.cursor, parts });
      return { status: "ok" };
  }
}

export function hasFailed(state: WebhookState): boolean {
  return state === "suspended" || state === "removed";
}

/** An active webhook that nobody has claimed. */
export function fresh(
  { id: task }: TaskDocument,
  { id, dialect, body, unnamed, at }: WebhookDraft,
  { nextAt, cursor, parts }: { readonly nextAt: number; readonly cursor: number; readonly parts: WebhookParts },
): WebhookRecord {
  const epoch = parts.nextEpoch();
  return { task, id, dialect, body, unnamed, at, state: "active", cursor, attempts: 0, nextAt, epoch };
}

function set(task: TaskDocument, { webhook, only, maxPerTask }: WebhookSet, parts: WebhookParts): Outcome {
  const present = task.webhooks.find(({ id }) => id === webhook.id);
  const others = task.webhooks.filter(({ id, state }) => id !== webhook.id && state !== "removed");
  const replaced = only ? others.filter(({ dialect }) => dialect === webhook.dialect) : [];
  const isNew = present === undefined || present.state === "removed";
  if (isNew && others.length - replaced.length >= maxPerTask) return { status: "full" };
  const removed = task.webhooks.filter(({ id, state }) => id !== webhook.id && state === "removed");
  const deleted = [...replaced, ...removed.slice(0, Math.max(0, removed.length - maxPerTask))];
  // Events that were not delivered to a replaced webhook are delivered to the new one.
  const cursors = [...(present === undefined ? [] : [present]), ...replaced]
    .filter(({ state }) => state === "active" || state === "suspended")
    .map(({ cursor }) => cursor);
  const start = task.endedAs === undefined ? task.seq : task.seq - 1;
  const cursor = cursors.length > 0 ? Math.min(...cursors) : start;
  const next = fresh(task, webhook, { nextAt: webhook.at, cursor, parts });
  task.webhooks = task.webhooks
    .filter((each) => !deleted.includes(each))
    .map((each) => (each === present ? next : each));
  if (present === undefined) task.webhooks.push(next);
  return { status: "ok" };
}

function advance(task: TaskDocument, index: number, operation: WebhookAdvance): Outcome {
  const webhook = task.webhooks[index];
  if (webhook === undefined) return { status: "not-found" };
  const { cursor, attempts, nextAt, failure, journal } = operation;
  if (journal !== undefined) replaceByKey(task.journal, journal);
  const isRefused = operation.state === "idle" && (task.endedAs === undefined || cursor < task.seq);
  const state = isRefused ? "active" : operation.state;
  const failedAt = operation.failedAt ?? (hasFailed(state) ? nextAt : undefined);
  const { node, failure: _, failedAt: __, ...rest } = webhook;
  task.webhooks[index] = {
    ...{ ...rest, state, cursor, attempts, nextAt },
    ...(failure !== undefined && { failure }),
    ...(failedAt !== undefined && { failedAt }),
    ...(state === "active" && node !== undefined && { node }),
  };
  return { status: isRefused ? "inbox" : "ok" };
}
