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
import { keptConfig, originOf, sealTarget, shownConfig } from "./webhook-target.ts";

export interface WebhookConfigServiceOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  readonly maxPerTask: number;
  readonly checkUrl: CheckUrl;
  /** Commits one operation. */
  readonly commit: (operation: WebhookOperation) => Promise<Outcome>;
  /** A webhook that leads to this origin was set, and is durable. */
  readonly onSet: (webhook: WebhookKey, origin: string | undefined) => void;
  /** A webhook was deleted: it must not be told any more. */
  readonly onDelete: (task: TaskId, id: string) => void;
}

/** Keeps push configurations. */
export function createWebhookConfigService(options: WebhookConfigServiceOptions): WebhookConfigService {
  return new StoredWebhookConfigs(options);
}

class StoredWebhookConfigs implements WebhookConfigService {
  readonly maxPerTask: number;
  readonly #options: WebhookConfigServiceOptions;
  /** Where drafts lead to: they are sealed, and whoever tells them would have to read them again. */
  readonly #origins = new WeakMap<WebhookDraft, string>();

  constructor(options: WebhookConfigServiceOptions) {
    this.#options = options;
    this.maxPerTask = options.maxPerTask;
  }

  prepare(caller: PushCaller, config: PushConfig, field: string): WebhookDraft {
    // Many send it along with every message. It must not become one more each time, nor repeats under another name.
    const name = stableId(caller.dialect, config.url);
    return this.#prepare(caller, config, { field, id: name, nonce: name });
  }

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

  async set(caller: PushCaller, task: TaskId, config: PushConfig): Promise<KeptPushConfig> {
    const { store, commit, maxPerTask } = this.#options;
    const { scope, policy, dialect } = caller;
    // Looked up first: who may not see the task must not learn from the refusal of an address that it is there.
    const key = await this.#find(scope, task);
    const names = { field: "pushNotificationConfig", id: randomId(), nonce: randomId() };
    const webhook = this.#prepare(caller, config, names);
    const before = policy.single ? await store.webhooks(key) : [];
    const outcome = await commit({ kind: "webhook-set", task: key, scope, webhook, maxPerTask, only: policy.single });
    if (outcome.status === "full") {
      throw new A2AError("resource-exhausted", `A task may have ${maxPerTask} push configurations; delete one first.`);
    }
    if (outcome.status !== "ok") throw taskNotFound(task);
    for (const other of before) {
      if (other.id !== webhook.id && other.dialect === dialect) this.#options.onDelete(key, other.id);
    }
    this.stored(key, webhook);
    return shownConfig(webhook.id, config);
  }

  async get(caller: PushCaller, task: TaskId, id: string | undefined): Promise<KeptPushConfig | undefined> {
    const { scope, policy } = caller;
    const key = await this.#find(scope, task);
    const webhook = named(await this.#visible(key), id, caller);
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
    const webhook = named(await this.#visible(key), id, caller);
    if (webhook === undefined) return;
    await commit({ kind: "webhook-delete", task: key, id: webhook.id });
    onDelete(key, webhook.id);
  }

  stored(key: TaskId, draft: WebhookDraft): void {
    this.#options.onSet({ task: key, id: draft.id }, this.#origins.get(draft));
  }

  /** What the caller's task is kept as. */
  async #find(scope: Scope, task: TaskId): Promise<TaskId> {
    for (const key of taskKeys(scope, task)) {
      const record = await this.#options.store.get(key, { scope, artifacts: false, history: 0 });
      if (record !== undefined) return key;
    }
    throw taskNotFound(task);
  }

  /** In the order they were first set. */
  async #visible(key: TaskId): Promise<readonly WebhookRecord[]> {
    return (await this.#options.store.webhooks(key)).filter(({ state }) => state !== "removed");
  }
}

/**
 * The one of that id; without an id the latest, in a dialect that has one at most its own; and, for who knows a name for it, the latest that
 * was set without one.
 */
function named(
  webhooks: readonly WebhookRecord[],
  id: string | undefined,
  { dialect, policy: { single, unnamedId } }: PushCaller,
): WebhookRecord | undefined {
  if (id === undefined) return latest(single ? webhooks.filter((webhook) => webhook.dialect === dialect) : webhooks);
  const found = webhooks.find((webhook) => webhook.id === id);
  if (found !== undefined || id !== unnamedId) return found;
  return latest(webhooks.filter(({ unnamed }) => unnamed));
}

/** The same for the same, shaped like any other id. */
function stableId(...parts: readonly string[]): string {
  const hex = createHash("sha256").update(JSON.stringify(parts)).digest("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)].join("-");
}

/** Of several set at the same time, the one that came last. */
function latest(webhooks: readonly WebhookRecord[]): WebhookRecord | undefined {
  return webhooks.reduce<WebhookRecord | undefined>(
    (last, webhook) => (last === undefined || webhook.at >= last.at ? webhook : last),
    undefined,
  );
}

function taskNotFound(taskId: string): A2AError {
  return new A2AError("task-not-found", "Task not found", { metadata: { taskId } });
}
