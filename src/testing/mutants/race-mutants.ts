import { CommitResults } from "../../store/commit-results.ts";
import type {
  ContextValue,
  ContextWrite,
  DueTasks,
  DueWebhook,
  Outcome,
  Store,
  TaskRecord,
  TaskWrite,
  WebhookRecord,
} from "../../store/contract.ts";
import { applyTo, type Mutant, PassingStore, pause, withOperations } from "./mutant-store.ts";

// Stores that check a condition, and write later as if the condition were still true.

const OK: Outcome = { status: "ok" };
const NO_LIMIT = Number.MAX_SAFE_INTEGER;

function recordOf(store: Store, task: TaskRecord["id"]): Promise<TaskRecord | undefined> {
  return store.get(task, { artifacts: false, history: 0 });
}

async function webhookOf(
  store: Store,
  { task, id }: Pick<WebhookRecord, "task" | "id">,
): Promise<WebhookRecord | undefined> {
  return (await store.webhooks(task)).find((webhook) => webhook.id === id);
}

async function valuesOf(store: Store, { task }: ContextWrite): Promise<readonly ContextValue[]> {
  const record = await recordOf(store, task);
  return record === undefined ? [] : store.contextValues(record.scope, record.contextId);
}

/** The write with its entries, including its end, numbered from `seq` on. */
function renumbered(write: TaskWrite, seq: number): TaskWrite {
  const entries = write.entries.map((entry, index) => ({ ...entry, seq: seq + index }));
  if (write.end === undefined) return { ...write, entries };
  const end = { ...write.end, entry: { ...write.end.entry, seq: seq + entries.length } };
  return { ...write, entries, end };
}

/** All calls of `claimDue` or `claimWebhooks` that are under way at the same time get the result of the first one. */
class SharedClaims extends PassingStore {
  readonly #inner: Store;
  readonly #shared: "claimDue" | "claimWebhooks";
  #tasks: Promise<DueTasks> | undefined;
  #webhooks: Promise<readonly DueWebhook[]> | undefined;

  constructor(inner: Store, shared: "claimDue" | "claimWebhooks") {
    super(inner);
    this.#inner = inner;
    this.#shared = shared;
  }

  override claimDue(query: Parameters<Store["claimDue"]>[0]): Promise<DueTasks> {
    if (this.#shared !== "claimDue") return super.claimDue(query);
    this.#tasks ??= pause()
      .then(() => this.#inner.claimDue(query))
      .finally(() => {
        this.#tasks = undefined;
      });
    return this.#tasks;
  }

  override claimWebhooks(query: Parameters<Store["claimWebhooks"]>[0]): Promise<readonly DueWebhook[]> {
    if (this.#shared !== "claimWebhooks") return super.claimWebhooks(query);
    this.#webhooks ??= pause()
      .then(() => this.#inner.claimWebhooks(query))
      .finally(() => {
        this.#webhooks = undefined;
      });
    return this.#webhooks;
  }
}

/** Finds out whether a key is known, and applies the commit later. */
class KeyLookup extends PassingStore {
  readonly #inner: Store;
  readonly #known = new CommitResults();

  constructor(inner: Store) {
    super(inner);
    this.#inner = inner;
  }

  override async commit(...[operations, key]: Parameters<Store["commit"]>): Promise<readonly Outcome[]> {
    if (key === undefined) return this.#inner.commit(operations);
    const known = this.#known.find(key);
    if (known !== undefined) return known;
    if (operations.length > 0) await pause();
    const outcomes = await this.#inner.commit(operations);
    this.#known.add(key, outcomes);
    return outcomes;
  }
}

/** The version of a context write follows the version that was the last one before the write. */
function versionsReadBefore(store: Store): Store {
  const last = new Map<string, number>();
  return withOperations((operation, inner) => {
    if (operation.kind !== "context-write") return undefined;
    return (async () => {
      const record = await recordOf(inner, operation.task);
      const context = JSON.stringify([record?.scope, record?.contextId]);
      const before = last.get(context) ?? 0;
      await pause();
      const outcome = await applyTo(inner, operation);
      if (outcome.status !== "ok" || outcome.version === undefined) return outcome;
      last.set(context, outcome.version);
      return { ...outcome, version: Math.min(outcome.version, before + 1) };
    })();
  })(store);
}

export const raceMutants: readonly Mutant[] = [
  {
    name: "reads the inbox before it applies a conditional end",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "write" || operation.end?.unlessInbox !== true) return undefined;
      const { end, task, taken } = operation;
      return (async () => {
        const waits = (await inner.inbox(task)).some(({ kind, id }) => kind === "message" && !taken.includes(id));
        await pause();
        return applyTo(inner, waits ? operation : { ...operation, end: { ...end, unlessInbox: false } });
      })();
    }),
    failing: ["race: a message is either in the inbox", "race: a post with expectedSeq"],
  },
  {
    name: "reads whether the task has ended before it accepts a message",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "post") return undefined;
      return (async () => {
        const [position] = await inner.positions([operation.task]);
        await pause();
        const outcome = await applyTo(inner, operation);
        return outcome.status === "ended" && position?.ended === false ? OK : outcome;
      })();
    }),
    failing: ["race: a message is either in the inbox", "race: a message that is accepted while its task ends"],
  },
  {
    name: "reads the epoch before it applies a write",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "write" || operation.create !== undefined) return undefined;
      return (async () => {
        const before = await recordOf(inner, operation.task);
        await pause();
        if (before?.node === undefined || before.epoch !== operation.epoch) return applyTo(inner, operation);
        const epoch = (await recordOf(inner, operation.task))?.epoch ?? operation.epoch;
        return applyTo(inner, { ...operation, epoch });
      })();
    }),
    failing: ["race: no write of the former holder"],
  },
  {
    name: "reads the epoch before it applies a context write",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "context-write") return undefined;
      return (async () => {
        const before = await recordOf(inner, operation.task);
        await pause();
        if (before?.node === undefined || before.epoch !== operation.epoch) return applyTo(inner, operation);
        const epoch = (await recordOf(inner, operation.task))?.epoch ?? operation.epoch;
        return applyTo(inner, { ...operation, epoch });
      })();
    }),
    failing: ["race: no context write of the former holder"],
  },
  {
    name: "reads the epoch before it applies an advance of a webhook",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "webhook-advance") return undefined;
      return (async () => {
        const before = await webhookOf(inner, operation);
        await pause();
        if (before?.epoch !== operation.epoch) return applyTo(inner, operation);
        return applyTo(inner, { ...operation, epoch: (await webhookOf(inner, operation))?.epoch ?? operation.epoch });
      })();
    }),
    failing: ["race: no advance of the former claimant"],
  },
  {
    name: "reads who has the lease before it applies a claim",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "claim" || operation.force) return undefined;
      return (async () => {
        const before = await recordOf(inner, operation.task);
        await pause();
        const outcome = await applyTo(inner, operation);
        if (outcome.status !== "held" || outcome.node === before?.node) return outcome;
        return applyTo(inner, { ...operation, force: true });
      })();
    }),
    failing: ["race: of two claims of one task", "race: a claim and claimDue"],
  },
  {
    name: "gives the tasks of one claimDue to all nodes that call it at the same time",
    open: (inner) => new SharedClaims(inner, "claimDue"),
    failing: ["race: two nodes that call claimDue"],
  },
  {
    name: "reads who has a webhook before it applies a claim",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "webhook-claim") return undefined;
      return (async () => {
        const before = await webhookOf(inner, operation);
        await pause();
        const outcome = await applyTo(inner, operation);
        if (outcome.status !== "held" || outcome.node === before?.node) return outcome;
        return { status: "ok", epoch: (await webhookOf(inner, operation))?.epoch ?? 0 };
      })();
    }),
    failing: ["race: of two claims of one webhook", "race: a claim of a webhook and claimWebhooks"],
  },
  {
    name: "gives the webhooks of one claimWebhooks to all nodes that call it at the same time",
    open: (inner) => new SharedClaims(inner, "claimWebhooks"),
    failing: ["race: two nodes that call claimWebhooks"],
  },
  {
    name: "looks for the task id before it creates a task",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "write" || operation.create === undefined) return undefined;
      return (async () => {
        const before = await recordOf(inner, operation.task);
        await pause();
        const outcome = await applyTo(inner, operation);
        return outcome.status === "duplicate" && before === undefined ? OK : outcome;
      })();
    }),
    failing: ["race: of two creates with one task id"],
  },
  {
    name: "looks for the idempotent message before it creates a task",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "write" || operation.create === undefined) return undefined;
      const { create } = operation;
      const { scope, messageId, idempotency } = create;
      if (messageId === undefined || idempotency === undefined) return undefined;
      return (async () => {
        const before = await inner.findByMessage(scope, messageId);
        await pause();
        if (before !== undefined) return applyTo(inner, operation);
        const unchecked = { ...create, idempotency: { ...idempotency, since: NO_LIMIT } };
        return applyTo(inner, { ...operation, create: unchecked });
      })();
    }),
    failing: ["race: of two creates with one idempotent message"],
  },
  {
    name: "looks for the entry id before it stores a post",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "post" || operation.uniquePrefix !== undefined) return undefined;
      return (async () => {
        const before = await inner.inbox(operation.task);
        await pause();
        const outcome = await applyTo(inner, operation);
        const isKnown = before.some(({ id }) => id === operation.entry.id);
        return outcome.status === "duplicate" && !isKnown ? OK : outcome;
      })();
    }),
    failing: ["race: of two posts with one entry id"],
  },
  {
    name: "looks for the unique prefix before it stores a post",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "post" || operation.uniquePrefix === undefined) return undefined;
      const { uniquePrefix: prefix, ...unchecked } = operation;
      return (async () => {
        const waiting = (await inner.inbox(operation.task)).map(({ id }) => id);
        const read = (await inner.get(operation.task, { artifacts: false }))?.history.map(({ inbox }) => inbox) ?? [];
        await pause();
        const isKnown = [...waiting, ...read].some((id) => id?.startsWith(prefix) === true);
        return applyTo(inner, isKnown ? operation : unchecked);
      })();
    }),
    failing: ["race: of two posts with one unique prefix"],
  },
  {
    name: "counts the waiting messages before it stores a post",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "post") return undefined;
      return (async () => {
        const waiting = (await inner.inbox(operation.task)).filter(({ kind }) => kind === "message").length;
        await pause();
        return applyTo(inner, waiting < operation.maxWaiting ? { ...operation, maxWaiting: NO_LIMIT } : operation);
      })();
    }),
    failing: ["race: at most maxWaiting messages"],
  },
  {
    name: "compares expectedSeq with the task before it stores a post",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "post" || operation.expectedSeq === undefined) return undefined;
      return (async () => {
        const { expectedSeq, ...unconditional } = operation;
        const before = await recordOf(inner, operation.task);
        const waiting = await inner.inbox(operation.task);
        await pause();
        const isSame = before?.seq === expectedSeq && waiting.length === 0;
        return applyTo(inner, isSame ? unconditional : operation);
      })();
    }),
    failing: ["race: of two posts with one expectedSeq", "race: a post with expectedSeq"],
  },
  {
    name: "reads the last seq before it applies a write, and then numbers the entries itself",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "write" || operation.create !== undefined) return undefined;
      return (async () => {
        const before = await recordOf(inner, operation.task);
        await pause();
        const outcome = await applyTo(inner, operation);
        const wasNext = (operation.entries[0] ?? operation.end?.entry)?.seq === (before?.seq ?? 0) + 1;
        const now = await recordOf(inner, operation.task);
        if (outcome.status !== "fenced" || !wasNext || now?.epoch !== operation.epoch || now.seq === before?.seq)
          return outcome;
        return applyTo(inner, renumbered(operation, now.seq + 1));
      })();
    }),
    failing: ["race: of two writes that continue the log", "race: of a write and an end that continue the log"],
  },
  {
    name: "compares the cursor with the log before it makes a webhook idle",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "webhook-advance" || operation.state !== "idle") return undefined;
      return (async () => {
        const [before] = await inner.positions([operation.task]);
        await pause();
        const [now] = await inner.positions([operation.task]);
        const seemsDelivered = before !== undefined && operation.cursor >= before.seq && now?.ended === true;
        return applyTo(inner, seemsDelivered ? { ...operation, cursor: now.seq } : operation);
      })();
    }),
    failing: ["race: a webhook that has not delivered the last event"],
  },
  {
    name: "reads the last seq before it sets a webhook",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "webhook-set") return undefined;
      return (async () => {
        const [before] = await inner.positions([operation.task]);
        await pause();
        const outcome = await applyTo(inner, operation);
        const [now] = await inner.positions([operation.task]);
        if (outcome.status !== "ok" || before?.ended !== false || now?.ended !== true) return outcome;
        // The end was delivered to the webhooks that existed at that time.
        const key = { task: operation.task, id: operation.webhook.id };
        const { epoch = 0 } = (await webhookOf(inner, key)) ?? {};
        const progress = { cursor: now.seq, attempts: 0, nextAt: 0, state: "active" } as const;
        return applyTo(inner, { kind: "webhook-advance", ...key, epoch, ...progress });
      })();
    }),
    failing: ["race: a webhook that is set while the task ends"],
  },
  {
    name: "compares the expected version before it applies a context write",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "context-write" || operation.expected === undefined) return undefined;
      const { expected, ...unconditional } = operation;
      return (async () => {
        const version = (await valuesOf(inner, operation)).find(({ key }) => key === operation.key)?.version ?? 0;
        await pause();
        return applyTo(inner, version === expected ? unconditional : operation);
      })();
    }),
    failing: ["race: of two context writes that expect"],
  },
  {
    name: "counts the bytes of a context before it applies a context write",
    open: withOperations((operation, inner) => {
      if (operation.kind !== "context-write") return undefined;
      const { key, value = "", maxBytes } = operation;
      return (async () => {
        const others = (await valuesOf(inner, operation)).filter((other) => other.key !== key);
        const bytes = [{ key, value }, ...others].map((one) => Buffer.byteLength(one.key + one.value));
        const fits = bytes.reduce((sum, each) => sum + each, 0) <= maxBytes;
        await pause();
        return applyTo(inner, fits ? { ...operation, maxBytes: NO_LIMIT } : operation);
      })();
    }),
    failing: ["race: context writes at the same time do not exceed"],
  },
  {
    name: "reads the last version of a context before it applies a context write",
    open: (inner) => versionsReadBefore(inner),
    failing: ["race: two context writes at the same time have different versions"],
  },
  {
    name: "looks for the key before it applies a commit",
    open: (inner) => new KeyLookup(inner),
    failing: ["race: of two commits with one key"],
  },
];
