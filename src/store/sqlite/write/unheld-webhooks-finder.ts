import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { WebhookRecord } from "../../contract.ts";
import { WEBHOOK_COLUMNS, webhookRecordOf } from "../row/webhook-record.ts";

/** Finds the active webhooks that no living node has claimed. Call it within a transaction. */
export class UnheldWebhooksFinder {
  readonly #claimants: StatementSync;
  readonly #claimedBy: StatementSync;

  constructor(database: DatabaseSync) {
    // Skips from node to node in the index, whatever number of webhooks each has.
    this.#claimants = database.prepare(
      `WITH RECURSIVE claimant (node) AS (
         SELECT min(node) FROM webhook INDEXED BY webhook_active WHERE state = 0 AND node IS NOT NULL
         UNION ALL
         SELECT (SELECT min(node) FROM webhook INDEXED BY webhook_active WHERE state = 0 AND node > claimant.node)
         FROM claimant WHERE claimant.node IS NOT NULL
       ) SELECT node FROM claimant WHERE node IS NOT NULL`,
    );
    this.#claimedBy = database.prepare(
      `SELECT ${WEBHOOK_COLUMNS} FROM webhook INDEXED BY webhook_active JOIN task ON task.pk = webhook.task
       WHERE webhook.state = 0 AND webhook.node IS ?1
         AND task.agent IN (SELECT agent.id FROM agent WHERE name IN (SELECT value FROM json_each(?2)))
       ORDER BY next_at, n LIMIT ?3`,
    );
  }

  /** Earliest `nextAt` first, each with the number of its row. Only webhooks of tasks of these agents. */
  find(
    living: readonly string[],
    { limit, agents }: { readonly limit: number; readonly agents: readonly string[] },
  ): { readonly n: number; readonly record: WebhookRecord }[] {
    const claimants = this.#claimants.all().map((row) => String(row["node"]));
    const gone = claimants.filter((node) => !living.includes(node));
    const served = JSON.stringify(agents);
    const rows = [null, ...gone].flatMap((node) => this.#claimedBy.all(node, served, limit));
    if (gone.length > 0) rows.sort(earliestFirst);
    return rows.slice(0, limit).map((row) => ({ n: Number(row["n"]), record: webhookRecordOf(row) }));
  }
}

function earliestFirst(a: Record<string, unknown>, b: Record<string, unknown>): number {
  return Number(a["next_at"]) - Number(b["next_at"]) || Number(a["n"]) - Number(b["n"]);
}
