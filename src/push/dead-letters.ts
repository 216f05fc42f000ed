import type { Clock } from "../internal/clock.ts";
import { isoTime } from "../internal/iso-time.ts";
import { A2AError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import { publicTaskId } from "../protocol/task-key.ts";
import type { Outcome, Store, WebhookOperation, WebhookRecord } from "../store/contract.ts";
import type { DeadLetter, DeadLetterRef, DeadLettersQuery } from "./contract.ts";
import type { Failure } from "./delivery.ts";
import { taskKeys } from "./task-keys.ts";

/** Where dead letters are read, and how they are revived. */
export interface DeadLettersOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly commit: (operation: WebhookOperation) => Promise<Outcome>;
  /** Called after a webhook became active again. */
  readonly onRevived: (task: TaskId, id: string) => void;
}

const DEFAULT_LIMIT = 100;
const MAX_LIMIT = 1000;

/** Webhooks whose delivery failed for good. For operators: not limited to one scope. */
export class DeadLetters {
  readonly #options: DeadLettersOptions;

  constructor(options: DeadLettersOptions) {
    this.#options = options;
  }

  /** The newest first. */
  async list({
    limit = DEFAULT_LIMIT,
    taskId,
    after,
    ...scope
  }: DeadLettersQuery = {}): Promise<readonly DeadLetter[]> {
    const { store } = this.#options;
    const size = Math.max(1, Math.min(Math.floor(limit), MAX_LIMIT));
    const task = taskId === undefined ? undefined : await this.#key({ taskId, ...scope });
    if (taskId !== undefined && task === undefined) return [];
    const beyond = after === undefined ? undefined : await this.#key(after);
    const records = await store.failedWebhooks({
      limit: size,
      ...(task !== undefined && { task }),
      ...(after !== undefined && { before: Date.parse(after.failedAt) }),
      ...(after !== undefined && beyond !== undefined && { beyond: { task: beyond, id: after.configId } }),
    });
    const letters = await Promise.all(records.map((record) => this.#letter(record)));
    return letters.filter((letter) => letter !== undefined);
  }

  /** Resumes delivery with the first event that was not delivered. Rejects with `task-not-found` if the dead letter does not exist. */
  async redeliver(ref: DeadLetterRef): Promise<void> {
    const { clock, commit, onRevived } = this.#options;
    const key = await this.#key(ref);
    const id = ref.configId;
    const outcome =
      key === undefined ? undefined : await commit({ kind: "webhook-revive", task: key, id, at: clock.now() });
    if (key === undefined || outcome?.status !== "ok") {
      throw new A2AError("task-not-found", "Dead letter not found", {
        metadata: { taskId: ref.taskId, configId: id },
      });
    }
    onRevived(key, id);
  }

  /** The store key of the task; `undefined` if the task does not exist. */
  async #key({ taskId, agent, tenant, owner }: Omit<DeadLetterRef, "configId">): Promise<TaskId | undefined> {
    const { store } = this.#options;
    const isScoped = agent !== undefined && tenant !== undefined && owner !== undefined;
    // Safe: an id that did not come from `list` finds no task.
    const id = taskId as TaskId;
    const keys = isScoped ? taskKeys({ agent, tenant, owner }, id) : [id];
    for (const key of keys) {
      if ((await store.get(key, { artifacts: false, history: 0 })) !== undefined) return key;
    }
    return undefined;
  }

  /** `undefined` if the task was deleted meanwhile. */
  async #letter(webhook: WebhookRecord): Promise<DeadLetter | undefined> {
    const record = await this.#options.store.get(webhook.task, { artifacts: false, history: 0 });
    if (record === undefined || webhook.failure === undefined) return undefined;
    // Safe: `delivery.ts` wrote this text.
    const { outcome, reason, url, attempts } = JSON.parse(webhook.failure) as Failure;
    const { agent, tenant, owner } = record.scope;
    return {
      taskId: publicTaskId(webhook.task),
      agent,
      tenant,
      owner,
      configId: webhook.id,
      url,
      outcome,
      reason,
      seq: webhook.cursor + 1,
      attempts,
      failedAt: isoTime(webhook.failedAt ?? 0),
    };
  }
}
