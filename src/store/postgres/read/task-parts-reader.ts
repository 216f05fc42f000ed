import type { ContextId, TaskId } from "../../../protocol/ids.ts";
import type { Scope } from "../../../protocol/principal.ts";
import type {
  ContextValue,
  InboxEntry,
  JournalRecord,
  MessageTrace,
  NodeClaims,
  StepRecord,
  WaitingEntry,
} from "../../contract.ts";
import type { Connections } from "../connections.ts";
import { inboxEntryOf } from "../row/claimed-task.ts";
import { scopeKey } from "../row/scope-key.ts";
import { originalText, storableText } from "../row/text.ts";

/** Reads inboxes, steps, journals, context values and claims. */
export class TaskPartsReader {
  readonly #connections: Connections;
  readonly #schema: string;

  constructor(connections: Connections, schema: string) {
    this.#connections = connections;
    this.#schema = schema;
  }

  async inbox(id: TaskId): Promise<readonly InboxEntry[]> {
    const rows = await this.#read<InboxEntry>(
      `SELECT id, kind, sealed, at, body FROM ${this.#schema}.inbox WHERE task = $1 ORDER BY n`,
      storableText(id),
    );
    return rows.map(inboxEntryOf);
  }

  async steps(id: TaskId): Promise<readonly StepRecord[]> {
    const rows = await this.#read<StepRecord>(
      `SELECT key, value FROM ${this.#schema}.step WHERE task = $1`,
      storableText(id),
    );
    return rows.map(({ key, value }) => ({ key: originalText(key), value: originalText(value) }));
  }

  async journal(id: TaskId): Promise<readonly JournalRecord[]> {
    const rows = await this.#read<JournalRecord>(
      `SELECT key, body FROM ${this.#schema}.journal WHERE task = $1 ORDER BY n`,
      storableText(id),
    );
    return rows.map(({ key, body }) => ({ key: originalText(key), body: originalText(body) }));
  }

  async contextValues(scope: Scope, contextId: ContextId): Promise<readonly ContextValue[]> {
    const rows = await this.#read<ContextValue>(
      `SELECT key, value, version FROM ${this.#schema}.context_value WHERE scope = $1 AND context = $2 ORDER BY key`,
      scopeKey(scope),
      storableText(contextId),
    );
    return rows.map(({ key, value, version }) => ({ key: originalText(key), value: originalText(value), version }));
  }

  async findByMessage(scope: Scope, messageId: string): Promise<MessageTrace | undefined> {
    const [row] = await this.#read<{ id: string; created_at: number; digest: string | null }>(
      `SELECT id, created_at, digest FROM ${this.#schema}.task WHERE message_id = $2 AND scope = $1 ORDER BY n DESC LIMIT 1`,
      scopeKey(scope),
      storableText(messageId),
    );
    if (row === undefined) return undefined;
    const { created_at: createdAt, digest } = row;
    return { task: taskIdOf(row.id), createdAt, ...(digest !== null && { digest: originalText(digest) }) };
  }

  async waitingEntries(node: string): Promise<readonly WaitingEntry[]> {
    const rows = await this.#read<WaitingRow>(
      `SELECT inbox.task, inbox.id FROM ${this.#schema}.inbox JOIN ${this.#schema}.task ON task.id = inbox.task
       WHERE NOT task.ended AND task.node = $1`,
      storableText(node),
    );
    return rows.map(waitingEntryOf);
  }

  async claimsOf(node: string): Promise<NodeClaims> {
    const rows = await this.#read<{ task: string; webhook: string | null; epoch: number }>(
      `SELECT id AS task, NULL AS webhook, epoch FROM ${this.#schema}.task WHERE NOT ended AND node = $1
       UNION ALL SELECT task, id, epoch FROM ${this.#schema}.webhook WHERE state = 'active' AND node = $1`,
      storableText(node),
    );
    return {
      tasks: rows.flatMap(({ task, webhook, epoch }) => (webhook === null ? [{ id: taskIdOf(task), epoch }] : [])),
      webhooks: rows.flatMap(({ task, webhook, epoch }) =>
        webhook === null ? [] : [{ task: taskIdOf(task), id: originalText(webhook), epoch }],
      ),
    };
  }

  async #read<T>(text: string, ...values: unknown[]): Promise<readonly T[]> {
    // Safe cast: the caller names the columns of its statement.
    return (await this.#connections.query(text, values)) as unknown as readonly T[];
  }
}

function taskIdOf(text: string): TaskId {
  return originalText(text) as TaskId; // Safe: stored ids were task ids.
}

/** An inbox entry of a task that the node holds. */
export interface WaitingRow {
  readonly task: string;
  readonly id: string;
}

export function waitingEntryOf({ task, id }: WaitingRow): WaitingEntry {
  return { task: taskIdOf(task), id: originalText(id) };
}
