import type {
  ContextWrite,
  InboxPost,
  LeaseClaim,
  LogEntry,
  Outcome,
  Scope,
  StoreOperation,
  TaskCreate,
  TaskId,
  TaskWrite,
} from "palaver/store";
import type { Database } from "./database.ts";
import { applyWrite, continuesLog, replaceByKey, type TaskDocument } from "./task-document.ts";
import { applyWebhook, fresh } from "./webhooks.ts";

/** Applies one operation of a commit. */
export function applyOperation(database: Database, operation: StoreOperation): Outcome {
  if (operation.kind === "write" && operation.create !== undefined)
    return create(database, operation, operation.create);
  const task = database.task(operation.task);
  if (task === undefined) return { status: "not-found" };
  const outcome = applyTo(database, task, operation);
  database.save(task);
  return outcome;
}

export function isSameScope(a: Scope, b: Scope): boolean {
  return a.agent === b.agent && a.tenant === b.tenant && a.owner === b.owner;
}

/** The newest task that this message created at `since` or later. */
export function findByMessage(
  database: Database,
  { scope, messageId }: Pick<TaskCreate, "scope" | "messageId">,
  since: number,
): TaskDocument | undefined {
  return database
    .tasks()
    .findLast(({ create }) => create.messageId === messageId && isSameScope(create.scope, scope) && create.at >= since);
}

function applyTo(database: Database, task: TaskDocument, operation: StoreOperation): Outcome {
  const hasEnded = task.endedAs !== undefined;
  switch (operation.kind) {
    case "write":
      if (hasEnded) return { status: "ended" };
      if (!isHolder(task, operation.epoch) || !continuesLog(task.seq, operation)) return { status: "fenced" };
      return write(database, task, operation);
    case "post":
      return post(task, operation, hasEnded);
    case "claim":
      return hasEnded ? { status: "ended" } : claim(database, task, operation);
    case "context-write":
      return hasEnded ? { status: "ended" } : writeContext(database, task, operation);
    case "webhook-set":
      if (!isSameScope(operation.scope, task.create.scope)) return { status: "not-found" };
      return applyWebhook(task, operation, database);
    default:
      return applyWebhook(task, operation, database);
  }
}

function create(database: Database, operation: TaskWrite, record: TaskCreate): Outcome {
  const { idempotency, messageId, webhook } = record;
  if (idempotency !== undefined && messageId !== undefined) {
    const earlier = findByMessage(database, record, idempotency.since);
    if (earlier !== undefined) return { status: "repeated", task: earlier.id };
  }
  if (database.task(operation.task) !== undefined) return { status: "duplicate" };
  const head = operation.head ?? operation.end?.head;
  if (head === undefined || operation.epoch !== 1 || !continuesLog(0, operation)) return { status: "fenced" };
  if (!database.makeRoom()) return { status: "full" };
  const task = newTask(operation.task, record, head);
  if (webhook !== undefined)
    task.webhooks.push(fresh(task, webhook, { nextAt: webhook.at, cursor: 0, parts: database }));
  const outcome = write(database, task, operation);
  database.save(task);
  return outcome;
}

function newTask(id: TaskId, create: TaskCreate, head: TaskDocument["head"]): TaskDocument {
  const { node } = create;
  const empty = { history: [], inbox: [], steps: [], journal: [], webhooks: [] };
  return { id, create, head, seq: 0, firstSeq: 1, epoch: 1, node, ...empty };
}

function write(database: Database, task: TaskDocument, operation: TaskWrite): Outcome {
  const log: LogEntry[] = [];
  const outcome = applyWrite(task, operation, log);
  if (operation.end !== undefined && outcome.status === "ok") task.endedAs = database.nextEnd();
  database.append(task.id, log);
  return outcome;
}

function post(task: TaskDocument, operation: InboxPost, hasEnded: boolean): Outcome {
  const { entry, maxWaiting, uniquePrefix, expectedSeq = task.seq } = operation;
  if (hasEnded) return expectedSeq === task.seq ? { status: "ended" } : { status: "changed", seq: task.seq };
  const isSame = (id: string | undefined): boolean =>
    id === entry.id || (uniquePrefix !== undefined && id?.startsWith(uniquePrefix) === true);
  if (task.inbox.some(({ id }) => isSame(id))) return { status: "duplicate" };
  if (uniquePrefix !== undefined && task.history.some(({ inbox }) => isSame(inbox))) return { status: "duplicate" };
  const waiting = task.inbox.filter(({ kind }) => kind === "message").length;
  const hasAccepted = waiting > 0 || task.history.some(({ after, inbox }) => inbox !== undefined && after >= task.seq);
  if (expectedSeq !== task.seq || (operation.expectedSeq !== undefined && hasAccepted))
    return { status: "changed", seq: task.seq };
  if (entry.kind === "message" && waiting >= maxWaiting) return { status: "full" };
  task.inbox.push(entry);
  return { status: "ok", ...(task.node !== undefined && { node: task.node }) };
}

function claim(database: Database, task: TaskDocument, { node, force }: LeaseClaim): Outcome {
  if (!force && task.node !== undefined && database.isLiving(task.node)) return { status: "held", node: task.node };
  task.node = node;
  task.epoch += 1;
  return { status: "ok", epoch: task.epoch };
}

function writeContext(database: Database, task: TaskDocument, operation: ContextWrite): Outcome {
  const { key, value, expected, maxBytes, step } = operation;
  const { scope, contextId } = task.create;
  if (!isHolder(task, operation.epoch)) return { status: "fenced" };
  const context = database.context(scope, contextId);
  const present = context.values.find((each) => each.key === key);
  if (expected !== undefined && expected !== (present?.version ?? 0)) return { status: "conflict" };
  const others = context.values.filter((each) => each !== present);
  const version = context.changes + 1;
  const values = value === undefined ? others : [...others, { key, value, version }];
  const bytes = values.reduce((sum, each) => sum + Buffer.byteLength(each.key + each.value), 0);
  if (value !== undefined && bytes > maxBytes) return { status: "full" };
  values.sort((a, b) => (a.key < b.key ? -1 : 1));
  database.saveContext(scope, contextId, { changes: version, values });
  if (step !== undefined) replaceByKey(task.steps, step);
  return { status: "ok", version };
}

/** The lease with this epoch is the current one. */
function isHolder(task: TaskDocument, epoch: number): boolean {
  return task.node !== undefined && task.epoch === epoch;
}
