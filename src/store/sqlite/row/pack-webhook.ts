import type { TaskId } from "../../../protocol/ids.ts";
import type { WebhookAdvance, WebhookDraft, WebhookOperation } from "../../contract.ts";
import {
  type PackedValue,
  WEBHOOK_ADVANCE,
  WEBHOOK_CLAIM,
  WEBHOOK_DELETE,
  WEBHOOK_REVIVE,
  WEBHOOK_SET,
} from "./packed.ts";
import type { PackedReader } from "./packed-reader.ts";
import { WEBHOOK_STATE_CODE, webhookStateOf } from "./webhook-state.ts";

/** Appends the values of a webhook operation; `unpackWebhookCommand` reads them in the same order. */
export function packWebhookOperation(packed: PackedValue[], operation: WebhookOperation): void {
  const { task } = operation;
  switch (operation.kind) {
    case "webhook-set":
      packed.push(WEBHOOK_SET, task, operation.maxPerTask, operation.only ? 1 : 0);
      packed.push(operation.scope.agent, operation.scope.tenant, operation.scope.owner);
      packDraft(packed, operation.webhook);
      break;
    case "webhook-delete":
      packed.push(WEBHOOK_DELETE, task, operation.id);
      break;
    case "webhook-claim":
      packed.push(WEBHOOK_CLAIM, task, operation.id, operation.node);
      break;
    case "webhook-advance": {
      const { id, epoch, cursor, attempts, nextAt, state, failure, failedAt, journal } = operation;
      // Retry times with random jitter may be fractions; the file stores whole milliseconds.
      packed.push(WEBHOOK_ADVANCE, task, id, epoch, cursor, attempts, Math.round(nextAt), WEBHOOK_STATE_CODE[state]);
      packed.push(failure ?? null, failedAt === undefined ? null : Math.round(failedAt));
      packed.push(journal?.key ?? null, journal?.body ?? null);
      break;
    }
    case "webhook-revive":
      packed.push(WEBHOOK_REVIVE, task, operation.id, operation.at);
      break;
  }
}

export function unpackWebhookCommand(reader: PackedReader, code: number, task: TaskId): WebhookOperation {
  if (code === WEBHOOK_SET) {
    const maxPerTask = reader.number();
    const only = reader.flag();
    const scope = reader.scope();
    return { kind: "webhook-set", task, maxPerTask, only, scope, webhook: unpackDraft(reader) };
  }
  const id = reader.text();
  if (code === WEBHOOK_DELETE) return { kind: "webhook-delete", task, id };
  if (code === WEBHOOK_CLAIM) return { kind: "webhook-claim", task, id, node: reader.text() };
  if (code === WEBHOOK_REVIVE) return { kind: "webhook-revive", task, id, at: reader.number() };
  if (code === WEBHOOK_ADVANCE) return unpackAdvance(reader, task, id);
  throw new Error(`A packed batch has an operation of the unknown kind ${code}.`);
}

function unpackAdvance(reader: PackedReader, task: TaskId, id: string): WebhookAdvance {
  const epoch = reader.number();
  const cursor = reader.number();
  const attempts = reader.number();
  const nextAt = reader.number();
  const state = webhookStateOf(reader.number());
  const failure = reader.textOrNull();
  const failedAt = reader.numberOrNull();
  const key = reader.textOrNull();
  const body = reader.textOrNull();
  return {
    kind: "webhook-advance",
    task,
    id,
    epoch,
    cursor,
    attempts,
    nextAt,
    state,
    ...(failure !== null && { failure }),
    ...(failedAt !== null && { failedAt }),
    ...(key !== null && body !== null && { journal: { key, body } }),
  };
}

export function packDraft(packed: PackedValue[], { id, dialect, body, unnamed, at }: WebhookDraft): void {
  packed.push(id, dialect, body, unnamed ? 1 : 0, at);
}

export function unpackDraft(reader: PackedReader): WebhookDraft {
  const id = reader.text();
  const dialect = reader.text();
  const body = reader.text();
  return { id, dialect, body, unnamed: reader.flag(), at: reader.number() };
}
