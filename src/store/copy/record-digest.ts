import { createHash } from "node:crypto";
import type { Scope } from "../../protocol/principal.ts";
import { RECORD_KINDS, type RecordKind, type StoredTask, type StoredWebhook, type StoreRecord } from "./records.ts";

/** How many records of a kind a store has, and a digest of all of them. */
export interface KindDigest {
  readonly count: number;
  /** Hexadecimal. */
  readonly digest: string;
}

const MODULUS = 1n << 256n;

/**
 * A digest of everything in a store. The SHA-256 values of the records are added, so that stores that return records in another order have the same
 * digest. Records whose order matters contain their position.
 */
export class RecordDigest {
  readonly #kinds = new Map<RecordKind, { count: number; sum: bigint }>();

  add(records: readonly StoreRecord[]): void {
    for (const record of records) {
      const kind = this.#kinds.get(record.kind) ?? { count: 0, sum: 0n };
      const hash = createHash("sha256")
        .update(JSON.stringify(membersOf(record)))
        .digest("hex");
      kind.count += 1;
      kind.sum = (kind.sum + BigInt(`0x${hash}`)) % MODULUS;
      this.#kinds.set(record.kind, kind);
    }
  }

  /** Of every kind, also of those without records. */
  result(): Readonly<Record<RecordKind, KindDigest>> {
    const entries = RECORD_KINDS.map((name) => {
      const { count, sum } = this.#kinds.get(name) ?? { count: 0, sum: 0n };
      return [name, { count, digest: sum.toString(16).padStart(64, "0") }] as const;
    });
    // Safe cast: every kind is listed.
    return Object.fromEntries(entries) as Record<RecordKind, KindDigest>;
  }
}

/** All members of a record in a fixed order. JSON has `null` for those that are absent. */
function membersOf(record: StoreRecord): readonly unknown[] {
  switch (record.kind) {
    case "task":
      return taskMembers(record.task);
    case "log":
      return [record.task, record.entry.seq, record.entry.body, record.entry.note];
    case "message":
      return [record.task, record.n, record.entry.after, record.entry.body, record.entry.inbox];
    case "inbox": {
      const { id, kind, body, sealed, at } = record.entry;
      return [record.task, record.n, id, kind, body, sealed, at];
    }
    case "step":
      return [record.task, record.step.key, record.step.value];
    case "journal":
      return [record.task, record.n, record.record.key, record.record.body];
    case "webhook":
      return [record.task, record.n, ...webhookMembers(record.webhook)];
    case "context":
      return [...scopeMembers(record.scope), record.contextId, record.changes];
    case "value": {
      const { key, value, version } = record.value;
      return [...scopeMembers(record.scope), record.contextId, key, value, version];
    }
  }
}

function taskMembers(task: StoredTask): readonly unknown[] {
  const { id, contextId, scope, dialect, createdAt, messageId, digest, parent, root, head } = task;
  const { state, status, statusAt, metadata, runner, active, wakeAt } = head;
  return [
    ...[id, contextId, ...scopeMembers(scope), dialect, createdAt, messageId, digest, parent, root],
    ...[state, status, statusAt, metadata, runner, active, wakeAt],
    ...[task.ended, task.epoch, task.seq, task.firstSeq, task.artifacts],
  ];
}

function webhookMembers(webhook: StoredWebhook): readonly unknown[] {
  const { id, dialect, body, unnamed, at, state, cursor, attempts, nextAt, failure, failedAt } = webhook;
  return [id, dialect, body, unnamed, at, state, cursor, attempts, nextAt, failure, failedAt];
}

function scopeMembers({ agent, tenant, owner }: Scope): readonly string[] {
  return [agent, tenant, owner];
}
