import { isSameScope } from "../../protocol/principal.ts";
import type {
  ContextWrite,
  InboxPost,
  LeaseClaim,
  Outcome,
  StoreOperation,
  TaskCreate,
  TaskWrite,
} from "../contract.ts";
import { DUPLICATE, ENDED, FENCED, FULL, NOT_FOUND, OK } from "../outcomes.ts";
import type { Tables } from "./tables.ts";
import { applyWrite, isContiguous, newRow, type TaskRow } from "./task-row.ts";

/** Applies one operation of a commit. */
export function applyOperation(tables: Tables, operation: StoreOperation): Outcome {
  if (operation.kind === "write") return write(tables, operation);
  const row = tables.find(operation.task);
  if (row === undefined) return NOT_FOUND;
  switch (operation.kind) {
    case "post":
      return post(row, operation);
    case "claim":
      return row.ended ? ENDED : claim(tables, row, operation);
    case "context-write":
      return row.ended ? ENDED : writeContext(tables, row, operation);
    case "webhook-set":
      if (!isSameScope(operation.scope, row.create.scope)) return NOT_FOUND;
      return tables.webhooks.apply(row, operation);
    default:
      return tables.webhooks.apply(row, operation);
  }
}

function write(tables: Tables, operation: TaskWrite): Outcome {
  if (operation.create !== undefined) return create(tables, operation, operation.create);
  const row = tables.find(operation.task);
  if (row === undefined) return NOT_FOUND;
  if (row.ended) return ENDED;
  if (!isHolder(row, operation.epoch) || !isContiguous(row.seq, operation)) return FENCED;
  return applied(tables, row, applyWrite(row, operation));
}

function create(tables: Tables, operation: TaskWrite, record: TaskCreate): Outcome {
  const { task } = operation;
  const { scope, messageId, idempotency, webhook } = record;
  if (idempotency !== undefined && messageId !== undefined) {
    const earlier = tables.messages.latest(scope, messageId, idempotency.since);
    if (earlier !== undefined) return { status: "repeated", task: earlier.id };
  }
  if (tables.find(task) !== undefined) return DUPLICATE;
  const row = newRow(task, record, operation);
  if (row === undefined || operation.epoch !== 1 || !isContiguous(0, operation)) return FENCED;
  if (!tables.makeRoom()) return FULL;
  tables.add(row);
  if (webhook !== undefined) tables.webhooks.begin(row, webhook);
  return applied(tables, row, applyWrite(row, operation));
}

function applied(tables: Tables, row: TaskRow, outcome: Outcome): Outcome {
  if (row.ended) tables.finish(row);
  return outcome;
}

function post(row: TaskRow, { entry, maxWaiting, uniquePrefix, expectedSeq }: InboxPost): Outcome {
  if (row.ended) return expectedSeq === undefined || expectedSeq === row.seq ? ENDED : changed(row);
  const isSame = (id: string | undefined): boolean =>
    id === entry.id || (uniquePrefix !== undefined && id?.startsWith(uniquePrefix) === true);
  if (uniquePrefix !== undefined && row.history.some(({ inbox }) => isSame(inbox))) return DUPLICATE;
  let waiting = 0;
  for (const other of row.inbox) {
    if (isSame(other.id)) return DUPLICATE;
    if (other.kind === "message") waiting += 1;
  }
  if (expectedSeq !== undefined && (row.seq !== expectedSeq || waiting > 0 || hasMessageAfter(row, expectedSeq)))
    return changed(row);
  if (entry.kind === "message" && waiting >= maxWaiting) return FULL;
  row.inbox.push(entry);
  return row.node === undefined ? OK : { status: "ok", node: row.node };
}

function hasMessageAfter({ history }: TaskRow, seq: number): boolean {
  return history.some(({ after, inbox }) => inbox !== undefined && after >= seq);
}

function changed({ seq }: TaskRow): Outcome {
  return { status: "changed", seq };
}

function claim(tables: Tables, row: TaskRow, { node, force }: LeaseClaim): Outcome {
  if (!force && row.node !== undefined && tables.isHeld(row)) return { status: "held", node: row.node };
  row.node = node;
  row.epoch += 1;
  return { status: "ok", epoch: row.epoch };
}

function writeContext(tables: Tables, row: TaskRow, operation: ContextWrite): Outcome {
  if (!isHolder(row, operation.epoch)) return FENCED;
  const { scope, contextId } = row.create;
  const outcome = tables.contexts.write(scope, contextId, operation);
  const { step } = operation;
  if (outcome.status === "ok" && step !== undefined) row.steps.set(step.key, step);
  return outcome;
}

/** The lease with this epoch is the current one. */
function isHolder(row: TaskRow, epoch: number): boolean {
  return row.node !== undefined && row.epoch === epoch;
}
