import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { TaskId } from "../../../protocol/ids.ts";
import type { ClaimQuery, DueTask, DueTasks, DueWebhook } from "../../contract.ts";
import { stateOf } from "../row/state-code.ts";
import { ScopeReader } from "../scope-ids.ts";
import { DueTasksFinder } from "./due-tasks-finder.ts";
import type { OpenTask } from "./open-task.ts";
import type { TaskWriter } from "./task-writer.ts";
import { UnheldWebhooksFinder } from "./unheld-webhooks-finder.ts";
import type { WebhookWriter } from "./webhook-writer.ts";

/** A claim of the main thread, with the nodes that are living. */
export interface ClaimRequest extends ClaimQuery {
  readonly living: readonly string[];
  readonly now: number;
}

/** Finds and claims tasks and webhooks within the open transaction. */
export class Claimer {
  readonly #tasks: TaskWriter;
  readonly #webhooks: WebhookWriter;
  readonly #finder: DueTasksFinder;
  readonly #unheld: UnheldWebhooksFinder;
  readonly #scopes: ScopeReader;
  readonly #head: StatementSync;
  readonly #scopeOfTask: StatementSync;

  constructor(database: DatabaseSync, parts: { readonly tasks: TaskWriter; readonly webhooks: WebhookWriter }) {
    this.#tasks = parts.tasks;
    this.#webhooks = parts.webhooks;
    this.#finder = new DueTasksFinder(database);
    this.#unheld = new UnheldWebhooksFinder(database);
    this.#scopes = new ScopeReader(database);
    this.#head = database.prepare(
      "SELECT state, status, status_at, metadata, runner, active, wake_at FROM task WHERE pk = ?",
    );
    this.#scopeOfTask = database.prepare("SELECT scope FROM task WHERE id = ?");
  }

  claimDue({ node, agents, living, now, limit }: ClaimRequest): DueTasks {
    if (!living.includes(node)) return { tasks: [] };
    const selection = { agents, living };
    const tasks: DueTask[] = [];
    for (const id of this.#finder.due(selection, { now, limit })) {
      const claimed = this.#tasks.claimFree(id, node);
      if (claimed !== undefined) tasks.push(this.#dueTask(claimed.task, claimed.formerNode));
    }
    const nextWake = this.#finder.nextWake(selection);
    return { tasks, ...(nextWake !== undefined && { nextWake }) };
  }

  claimWebhooks({ node, agents, living, limit }: ClaimRequest): DueWebhook[] {
    if (!living.includes(node)) return [];
    const found = this.#unheld.find(living, { limit, agents });
    return found.map(({ n, record }) => {
      const webhook = { ...record, node, epoch: this.#webhooks.claimFree(n, record.epoch, node) };
      const scope = Number(this.#scopeOfTask.get(record.task)?.["scope"]);
      return { webhook, scope: this.#scopes.mustFind(scope) };
    });
  }

  #dueTask({ pk, id, scope, epoch, seq }: OpenTask, formerNode: string | undefined): DueTask {
    const row = this.#head.get(pk) ?? {};
    const { metadata, wake_at: wakeAt } = row;
    return {
      id: id as TaskId, // Safe cast: written from a TaskId.
      scope: this.#scopes.mustFind(scope),
      epoch,
      ...(formerNode !== undefined && { formerNode }),
      head: {
        state: stateOf(Number(row["state"])),
        status: String(row["status"]),
        statusAt: Number(row["status_at"]),
        ...(typeof metadata === "string" && { metadata }),
        runner: String(row["runner"]),
        active: row["active"] === 1,
        ...(typeof wakeAt === "number" && { wakeAt }),
      },
      seq,
    };
  }
}
