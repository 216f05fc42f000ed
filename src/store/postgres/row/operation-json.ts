import type {
  HistoryEntry,
  JournalRecord,
  LogEntry,
  StepRecord,
  StoreOperation,
  TaskCreate,
  TaskHead,
  TaskWrite,
  WebhookDraft,
} from "../../contract.ts";
import { logText } from "./log-text.ts";
import { scopeKey } from "./scope-key.ts";
import { storableText } from "./text.ts";

/** Bytes of a task id, and of each other text that an index contains: a longer one would not fit into PostgreSQL's indexes. */
const MAX_ID_BYTES = 1500;
const MAX_NAME_BYTES = 1000;

type Json = Readonly<Record<string, unknown>>;

/** An operation as the function `commit_1` reads it. Members that are `undefined` are left out of the JSON. */
export function operationJson(operation: StoreOperation): Json {
  const task = storableText(operation.task);
  switch (operation.kind) {
    case "write":
      return writeJson(task, operation);
    case "post": {
      const { entry, maxWaiting, uniquePrefix, expectedSeq } = operation;
      const { id, kind, sealed, at, body } = entry;
      return {
        ...{ kind: "post", task, id: storableText(id), entry: kind, sealed, at, body: storableText(body), maxWaiting },
        ...{ uniquePrefix: optionalText(uniquePrefix), expectedSeq },
      };
    }
    case "claim":
      return { kind: "claim", task, node: storableText(operation.node), force: operation.force };
    case "context-write": {
      const { epoch, key, value, expected, maxBytes, step } = operation;
      return {
        ...{
          kind: "context-write",
          task,
          epoch,
          key: storableText(key),
          value: optionalText(value),
          expected,
          maxBytes,
        },
        step: step && stepJson(step),
      };
    }
    case "webhook-set": {
      const { scope, webhook, maxPerTask, only } = operation;
      return { kind: "webhook-set", task, scope: scopeKey(scope), webhook: webhookJson(webhook), maxPerTask, only };
    }
    case "webhook-advance": {
      const { kind, id, epoch, cursor, attempts, nextAt, state, failure, failedAt, journal } = operation;
      return {
        ...{ kind, task, id: storableText(id), epoch, cursor, attempts, nextAt: Math.round(nextAt), state },
        failedAt: failedAt === undefined ? undefined : Math.round(failedAt),
        ...{ failure: optionalText(failure), journal: journal && journalJson([journal]) },
      };
    }
    case "webhook-claim":
      return { kind: operation.kind, task, id: storableText(operation.id), node: storableText(operation.node) };
    case "webhook-delete":
      return { kind: operation.kind, task, id: storableText(operation.id) };
    case "webhook-revive":
      return { kind: operation.kind, task, id: storableText(operation.id), at: Math.round(operation.at) };
  }
}

/** Whether the commit needs locks beside those of its tasks. */
export function needsKeys(operation: StoreOperation): boolean {
  return (
    operation.kind === "context-write" || (operation.kind === "write" && operation.create?.idempotency !== undefined)
  );
}

/** Whether the operations do nothing but append events, each to another task. */
export function areAppends(operations: readonly StoreOperation[]): boolean {
  return operations.every(isAppend) && new Set(operations.map(({ task }) => task)).size === operations.length;
}

function isAppend(operation: StoreOperation): boolean {
  if (operation.kind !== "write" || operation.entries.length === 0) return false;
  const { create, head, history, taken, steps, journal = [], forgetSteps, end, release } = operation;
  if (create !== undefined || head !== undefined || end !== undefined || forgetSteps || release) return false;
  return history.length + taken.length + steps.length + journal.length === 0;
}

function writeJson(task: string, write: TaskWrite): Json {
  const { epoch, create, entries, head, history, taken, steps, journal, forgetSteps, end, release } = write;
  const all = end === undefined ? entries : [...entries, end.entry];
  const first = all[0]?.seq;
  return {
    ...{ kind: "write", task, epoch, forgetSteps, release, first, last: all.at(-1)?.seq ?? 0 },
    contiguous: all.every((entry, index) => entry.seq === (first ?? 0) + index),
    create: create && createJson(task, create),
    ...(entries.length > 0 && { count: entries.length, ...entriesJson(entries) }),
    head: head && headJson(head),
    history: someOf(history.map(historyJson)),
    taken: someOf(taken.map(storableText)),
    steps: someOf([...new Map(steps.map((step) => [step.key, stepJson(step)])).values()]),
    journal: journal && someOf(journalJson(journal)),
    end: end && {
      ...entriesJson([end.entry]),
      head: headJson(end.head),
      history: someOf(end.history.map(historyJson)),
      unlessInbox: end.unlessInbox,
      artifacts: optionalText(end.artifacts),
    },
  };
}

function createJson(task: string, create: TaskCreate): Json {
  const { contextId, scope, dialect, at, node, messageId, idempotency, webhook, parent, root } = create;
  const names = [contextId, scope.agent, messageId, webhook?.id];
  return {
    ...{ scope: scopeKey(scope), agent: storableText(scope.agent), tenant: storableText(scope.tenant) },
    ...{ owner: storableText(scope.owner), context: storableText(contextId), dialect, at, node: storableText(node) },
    message: optionalText(messageId),
    ...(idempotency !== undefined && { digest: storableText(idempotency.digest) }),
    ...(idempotency !== undefined && messageId !== undefined && { since: idempotency.since }),
    ...{ parent: optionalText(parent), root: optionalText(root), webhook: webhook && webhookJson(webhook) },
    oversized: oversizedName([task, parent, root], names) !== undefined,
  };
}

/** The first id of a task, or other name, that an index could not contain. */
export function oversizedName(
  ids: readonly (string | undefined)[],
  names: readonly (string | undefined)[],
): string | undefined {
  return ids.find((id) => isLonger(id, MAX_ID_BYTES)) ?? names.find((name) => isLonger(name, MAX_NAME_BYTES));
}

function isLonger(text: string | undefined, bytes: number): boolean {
  return text !== undefined && Buffer.byteLength(text) > bytes;
}

function entriesJson(entries: readonly LogEntry[]): Json {
  return { bytes: entries.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0), entries: logText(entries) };
}

function headJson({ state, status, statusAt, metadata, runner, active, wakeAt }: TaskHead): Json {
  return {
    ...{ state, status: storableText(status), statusAt, metadata: optionalText(metadata) },
    ...{ runner: storableText(runner), active, wakeAt },
  };
}

function historyJson({ after, body, inbox }: HistoryEntry): Json {
  return { after, body: storableText(body), inbox: optionalText(inbox) };
}

function stepJson({ key, value }: StepRecord): Json {
  return { key: storableText(key), value: storableText(value) };
}

/** One statement must not write a row twice: of records with the same key, the last one replaces the first. */
function journalJson(records: readonly JournalRecord[]): readonly Json[] {
  const byKey = new Map(
    records.map(({ key, body }) => [key, { key: storableText(key), body: storableText(body) }] as const),
  );
  return [...byKey.values()];
}

function webhookJson({ id, dialect, body, unnamed, at }: WebhookDraft): Json {
  return { id: storableText(id), dialect, body: storableText(body), unnamed, at };
}

function optionalText(text: string | undefined): string | undefined {
  return text === undefined ? undefined : storableText(text);
}

function someOf<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}
