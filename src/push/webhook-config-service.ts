import { createHash } from "node:crypto";
import type { Sealer } from "../engine/record/seal.ts";
import type { Clock } from "../internal/clock.ts";
import { randomId } from "../internal/random-id.ts";
import { A2AError } from "../protocol/error.ts";
import type { TaskId } from "../protocol/ids.ts";
import type { KeptPushConfig, PushConfig } from "../protocol/operation.ts";
import type { Scope } from "../protocol/principal.ts";
import type { Outcome, Store, WebhookDraft, WebhookKey, WebhookOperation, WebhookRecord } from "../store/contract.ts";
import { type CheckUrl, checkConfig } from "./check-config.ts";
import type { PushCaller, WebhookConfigService } from "./contract.ts";
import { taskKeys } from "./task-keys.ts";
import { isSameWebhook, keptConfig, originOf, sealTarget, shownConfig } from "./webhook-target.ts";

/** Where configurations are stored, and who is notified of changes. */
export interface WebhookConfigServiceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly maxPerTask: number;
  readonly checkUrl: CheckUrl;
  /** Commits one operation; rejects with `unavailable` if the store does. */
  readonly commit: (operation: WebhookOperation) => Promise<Outcome>;
  /** Called after a webhook was stored. `origin`: of its URL, if known. */
  readonly onSet: (webhook: WebhookKey, origin: string | undefined) => void;
  /** Called after a webhook was deleted or replaced: it must not be notified any more. */
  readonly onDelete: (task: TaskId, id: string) => void;
}

/** Webhook configurations in a store, encrypted. */
export function createWebhookConfigService(options: WebhookConfigServiceOptions): WebhookConfigService {
  return new StoredWebhookConfigs(options);
}

class StoredWebhookConfigs implements WebhookConfigService {
  readonly maxPerTask: number;
  readonly #options: WebhookConfigServiceOptions;
  /** Origins of prepared webhooks. Their URLs are encrypted, and the dispatcher would have to decrypt them again. */
  readonly #origins = new WeakMap<WebhookDraft, string>();

  constructor(options: WebhookConfigServiceOptions) {
    this.#options = options;
    this.maxPerTask = options.maxPerTask;
  }

  prepare(caller: PushCaller, config: PushConfig, field: string): WebhookDraft {
    // Many clients send the same configuration with every message: it must not become a new webhook each time, and repeats keep their jti.
    const name = stableId(caller.dialect, config.url);
    return this.#prepare(caller, config, { field, id: name, nonce: name });
  }

  /**
   * Checks and encrypts a configuration. `names.id` is used if the configuration has no id; the `nonce` becomes part of every
   * notification's id.
   */
  #prepare(
    caller: PushCaller,
    config: PushConfig,
    names: { readonly field: string; readonly id: string; readonly nonce: string },
  ): WebhookDraft {
    const { sealer, clock, checkUrl } = this.#options;
    checkConfig(config, names.field, checkUrl);
    const { id = names.id, ...target } = config;
    const { scope, dialect, policy } = caller;
    const sealed = { ...target, afterFailure: policy.afterFailure, nonce: names.nonce };
    const draft: WebhookDraft = {
      id,
      dialect,
      body: sealTarget(sealer, sealed, { scope, id }),
      unnamed: config.id === undefined,
      at: clock.now(),
    };
    this.#origins.set(draft, originOf(config.url));
    return draft;
  }

  isSame(draft: WebhookDraft, stored: WebhookRecord, scope: Scope): boolean {
    return isSameWebhook(this.#options.sealer, [draft, stored], scope);
  }

  async set(caller: PushCaller, task: TaskId, config: PushConfig): Promise<KeptPushConfig> {
    const { store, commit, maxPerTask } = this.#options;
    const { scope, policy, dialect } = caller;
    // First find the task: to callers who may not see it, an error about the URL would reveal that it exists.
    const key = await this.#find(scope, task);
    const names = { field: "pushNotificationConfig", id: randomId(), nonce: randomId() };
    const webhook = this.#prepare(caller, config, names);
    const before = policy.single ? await store.webhooks(key) : [];
    const outcome = await commit({ kind: "webhook-set", task: key, scope, webhook, maxPerTask, only: policy.single });
    if (outcome.status === "full") {
      throw new A2AError(
        "resource-exhausted",
        `The task has ${maxPerTask} push notification configurations, the most allowed; delete one first.`,
      );
    }
    if (outcome.status !== "ok") throw taskNotFound(task);
    for (const other of before) {
      if (other.id !== webhook.id && other.dialect === dialect) this.#options.onDelete(key, other.id);
    }
    // The configuration with the same id, which this one replaces, must not be notified any more.
    this.#options.onDelete(key, webhook.id);
    this.stored(key, webhook);
    return shownConfig(webhook.id, config);
  }

  /** A configuration that cannot be decrypted counts as missing. */
  async get(caller: PushCaller, task: TaskId, id: string | undefined): Promise<KeptPushConfig | undefined> {
    const { scope, policy } = caller;
    const key = await this.#find(scope, task);
    const webhook = findWebhook(await this.#visible(key), id, caller);
    const config = webhook === undefined ? undefined : keptConfig(this.#options.sealer, webhook, scope);
    if (config !== undefined || policy.missing === "nothing") return config;
    throw new A2AError("task-not-found", "Push notification configuration not found", {
      metadata: { taskId: task, ...(id !== undefined && { id }) },
    });
  }

  async list({ scope }: PushCaller, task: TaskId): Promise<readonly KeptPushConfig[]> {
    const visible = await this.#visible(await this.#find(scope, task));
    return visible.flatMap((webhook) => keptConfig(this.#options.sealer, webhook, scope) ?? []);
  }

  async delete(caller: PushCaller, task: TaskId, id: string | undefined): Promise<void> {
    const { commit, onDelete } = this.#options;
    const key = await this.#find(caller.scope, task);
    const webhook = findWebhook(await this.#visible(key), id, caller);
    if (webhook === undefined) return;
    await commit({ kind: "webhook-delete", task: key, id: webhook.id });
    onDelete(key, webhook.id);
  }

  stored(key: TaskId, draft: WebhookDraft): void {
    this.#options.onSet({ task: key, id: draft.id }, this.#origins.get(draft));
  }

  /** The store key of the caller's task. */
  async #find(scope: Scope, task: TaskId): Promise<TaskId> {
    for (const key of taskKeys(scope, task)) {
      const record = await this.#options.store.get(key, { scope, artifacts: false, history: 0 });
      if (record !== undefined) return key;
    }
    throw taskNotFound(task);
  }

  /** The task's webhooks in the order in which they were first set, without removed ones. */
  async #visible(key: TaskId): Promise<readonly WebhookRecord[]> {
    return (await this.#options.store.webhooks(key)).filter(({ state }) => state !== "removed");
  }
}

/**
 * By id. Without an id: the latest; in a dialect that allows one webhook per task, the latest of that dialect. By the dialect's `unnamedId`:
 * the latest webhook that was created without an id.
 */
function findWebhook(
  webhooks: readonly WebhookRecord[],
  id: string | undefined,
  { dialect, policy: { single, unnamedId } }: PushCaller,
): WebhookRecord | undefined {
  if (id === undefined) return latest(single ? webhooks.filter((webhook) => webhook.dialect === dialect) : webhooks);
  const found = webhooks.find((webhook) => webhook.id === id);
  if (found !== undefined || id !== unnamedId) return found;
  return latest(webhooks.filter(({ unnamed }) => unnamed));
}

/** A hash of the parts, in the format of a UUID. */
function stableId(...parts: readonly string[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

/** The webhook that was set last; of several set in the same millisecond, the last in the list. */
function latest(webhooks: readonly WebhookRecord[]): WebhookRecord | undefined {
  return webhooks.reduce<WebhookRecord | undefined>(
    (last, webhook) => (last === undefined || webhook.at >= last.at ? webhook : last),
    undefined,
  );
}

function taskNotFound(taskId: string): A2AError {
  return new A2AError("task-not-found", "Task not found", { metadata: { taskId } });
}
