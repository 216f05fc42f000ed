import type { TaskId } from "../../../protocol/ids.ts";
import type { FailedWebhooksQuery, WebhookRecord } from "../../contract.ts";
import type { Connections } from "../connections.ts";
import { storableText } from "../row/text.ts";
import { type WebhookRow, webhookRecordOf } from "../row/webhook-record.ts";
import { Filter } from "./filter.ts";

/** Reads webhooks. */
export class WebhookReader {
  readonly #connections: Connections;
  readonly #schema: string;

  constructor(connections: Connections, schema: string) {
    this.#connections = connections;
    this.#schema = schema;
  }

  /** See `Store.webhooks`. */
  async of(task: TaskId): Promise<readonly WebhookRecord[]> {
    return this.#read(`SELECT * FROM ${this.#schema}.webhook WHERE task = $1 ORDER BY n`, [storableText(task)]);
  }

  /** See `Store.failedWebhooks`. */
  async failed({ limit, task, before, beyond }: FailedWebhooksQuery): Promise<readonly WebhookRecord[]> {
    const filter = new Filter();
    if (task !== undefined) filter.equals("task", storableText(task));
    if (before !== undefined) {
      const key = beyond && [beyond.task, beyond.id].map((text) => filter.parameter(storableText(text)));
      filter.add(
        (at) =>
          key === undefined
            ? `failed_at < ${at}::bigint`
            : `(failed_at < ${at}::bigint OR (failed_at = ${at}::bigint AND (task, id) > (${key[0]}::text COLLATE "C", ${key[1]}::text COLLATE "C")))`,
        before,
      );
    }
    const most = filter.parameter(limit);
    return this.#read(
      `SELECT * FROM ${this.#schema}.webhook WHERE state IN ('suspended', 'removed') ${filter.sql && `AND ${filter.sql}`}
       ORDER BY failed_at DESC, task, id LIMIT ${most}`,
      [...filter.values],
    );
  }

  async #read(text: string, values: unknown[]): Promise<readonly WebhookRecord[]> {
    // Safe cast: all columns of the table.
    return ((await this.#connections.query(text, values)) as unknown as readonly WebhookRow[]).map(webhookRecordOf);
  }
}
