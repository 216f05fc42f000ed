import type { DatabaseSync } from "node:sqlite";
import type { TaskId } from "../../../protocol/ids.ts";
import type { ContextWrite, HistoryEntry, LeaseClaim, Outcome, StepRecord, WebhookOperation } from "../../contract.ts";
import { DUPLICATE, ENDED, FENCED, FULL, INBOX, NOT_FOUND, OK } from "../../outcomes.ts";
import type { AgentIds } from "../agent-ids.ts";
import type { CounterDeltas } from "../counters.ts";
import { COUNTED, FOUND_BY_ID, firstTaskRange, isFirstTask, NOT_COUNTED } from "../row/first-task.ts";
import { joinMessages } from "../row/message-text.ts";
import type { Command, CreateCommand, EndCommand, HeadCommand, WriteCommand } from "../row/packed.ts";
import type { ScopeIds } from "../scope-ids.ts";
import type { ContextWriter } from "./context-writer.ts";
import { post, take } from "./inbox-writer.ts";
import type { JournalWriter } from "./journal-writer.ts";
import { addHotRow, type OpenTask } from "./open-task.ts";
import type { OpenTasks } from "./open-tasks.ts";
import type { Retainer } from "./retainer.ts";
import { prepareTaskStatements, type TaskStatements } from "./task-statements.ts";
import type { WebhookWriter } from "./webhook-writer.ts";

/** A longer first message gets a row of its own: in the task's row it would be rewritten with every status. */
const MAX_INLINE_MESSAGES = 2048;
const MAX_KNOWN_CONTEXTS = 10_000;

export interface TaskWriterParts {
  readonly open: OpenTasks;
  readonly scopes: ScopeIds;
  readonly agents: AgentIds;
  readonly counters: CounterDeltas;
  readonly retainer: Retainer;
  readonly webhooks: WebhookWriter;
  readonly journal: JournalWriter;
  readonly contexts: ContextWriter;
}

/** The outcome of an operation and the row it added to the hot log; 0: none. */
export interface Applied {
  readonly outcome: Outcome;
  readonly row: number;
}

/** Applies operations within the open transaction. After a rollback, call `reset`: it discards everything remembered. */
export class TaskWriter {
  readonly #statements: TaskStatements;
  readonly #open: OpenTasks;
  readonly #scopes: ScopeIds;
  readonly #agents: AgentIds;
  readonly #counters: CounterDeltas;
  readonly #retainer: Retainer;
  readonly #webhooks: WebhookWriter;
  readonly #journal: JournalWriter;
  readonly #contexts: ContextWriter;
  readonly #nextKey: () => number;
  readonly #knownContexts = new Set<string>();
  /** Tasks whose rows should leave the hot log: they ended, were released, or have many rows. */
  readonly touched: Set<OpenTask> = new Set();
  #key = 0;
  /** Number of the last row of the hot log. It never falls, so that a number is used for one row only while this process lives. */
  #row = 0;

  constructor(database: DatabaseSync, parts: TaskWriterParts) {
    this.#statements = prepareTaskStatements(database);
    this.#open = parts.open;
    this.#scopes = parts.scopes;
    this.#agents = parts.agents;
    this.#counters = parts.counters;
    this.#retainer = parts.retainer;
    this.#webhooks = parts.webhooks;
    this.#journal = parts.journal;
    this.#contexts = parts.contexts;
    const lastKey = database.prepare("SELECT max(pk) AS pk FROM task");
    this.#nextKey = () => Number(lastKey.get()?.["pk"] ?? 0);
  }

  reset(): void {
    this.#knownContexts.clear();
    this.#counters.discard();
    this.#scopes.clear();
    this.#agents.clear();
    this.#contexts.reset();
    this.touched.clear();
    this.#key = this.#nextKey();
    this.#row = Math.max(this.#row, this.#open.reload());
    this.#retainer.reset();
  }

  apply(command: Command, living: readonly string[]): Applied {
    if (command.kind === "write") return this.#write(command);
    const task = this.#open.find(command.task);
    return { outcome: task === undefined ? NOT_FOUND : this.#applyTo(task, command, living), row: 0 };
  }

  #applyTo(task: OpenTask, command: Exclude<Command, WriteCommand>, living: readonly string[]): Outcome {
    switch (command.kind) {
      case "post":
        return post(this.#statements, task, command);
      case "claim":
        return task.ended ? ENDED : this.#claim(task, command, living);
      case "context-write":
        return task.ended ? ENDED : this.#writeContext(task, command);
      case "webhook-set":
        if (command.only) this.#retainer.taskMayBeDeleted();
        return this.#webhooks.set(task, command, this.#scopes.find(command.scope));
      default:
        if (releasesTask(command)) this.#retainer.taskMayBeDeleted();
        return this.#webhooks.apply(task, command, living);
    }
  }

  /** Claims a task that no living node holds. `undefined`: there is no such task. */
  claimFree(
    id: string,
    node: string,
  ): { readonly task: OpenTask; readonly formerNode: string | undefined } | undefined {
    const task = this.#open.find(id);
    if (task === undefined) return undefined;
    const formerNode = task.node;
    this.#lease(task, node);
    return { task, formerNode };
  }

  leave(node: string): void {
    this.#webhooks.leave(node);
    for (const row of this.#statements.leave.all(node)) {
      const task = this.#open.recall(String(row["id"]));
      if (task === undefined) continue;
      task.node = undefined;
      this.touched.add(task);
    }
  }

  #write(write: WriteCommand): Applied {
    if (write.create !== undefined) return this.#create(write, write.create);
    const task = this.#open.find(write.task);
    if (task === undefined) return { outcome: NOT_FOUND, row: 0 };
    if (task.ended) return { outcome: ENDED, row: 0 };
    if (!isHeldWith(task, write.epoch) || !followsOn(task.seq, write)) return { outcome: FENCED, row: 0 };
    if (write.taken.length > 0) take(this.#statements, task, write.taken);
    const end = endOf(task, write);
    const row = this.#appendLog(task, write, end);
    for (const entry of write.history) this.#addMessage(task, entry);
    this.#journal.add(task.pk, write.journal);
    if (end === undefined) this.#keepSteps(task, write);
    if (end !== undefined) this.#end(task, end);
    else if (write.head !== undefined) this.#setHead(task, write.head, write.release);
    else if (write.release) this.#release(task);
    return { outcome: write.end === undefined || end !== undefined ? OK : INBOX, row };
  }

  #create(write: WriteCommand, create: CreateCommand): Applied {
    const earlier = create.idempotency && this.#earlier(create, create.idempotency.since);
    if (earlier !== undefined) return { outcome: { status: "repeated", task: earlier }, row: 0 };
    const head = write.end?.head ?? write.head;
    if (head === undefined || write.epoch !== 1 || !followsOn(0, write)) {
      return { outcome: this.#open.find(write.task) === undefined ? FENCED : DUPLICATE, row: 0 };
    }
    if (this.#open.recall(write.task) !== undefined) return { outcome: DUPLICATE, row: 0 };
    if (this.#retainer.isFull()) {
      if (this.#open.find(write.task) !== undefined) return { outcome: DUPLICATE, row: 0 };
      if (!this.#retainer.makeRoom()) return { outcome: FULL, row: 0 };
    }
    const scope = this.#scopes.idOf(create.scope);
    const { end } = write;
    const ended = end !== undefined;
    const seq = write.count + (ended ? 1 : 0);
    const node = ended || write.release ? null : create.node;
    const history = ended ? [...write.history, ...end.history] : write.history;
    const messages = joinMessages(history);
    const isInline = messages !== undefined && (ended || messages.length <= MAX_INLINE_MESSAGES);
    const hasChildren = create.idempotency !== undefined || create.webhook !== undefined || write.journal.length > 0;
    const isWhole = ended && isInline && !hasChildren;
    const inserted = this.#statements.insertTask.run(
      this.#key + 1,
      write.task,
      scope,
      this.#agents.idOf(create.scope.agent),
      create.context,
      countedOf(write.task, create),
      head.state,
      head.statusAt,
      ended ? 1 : 0,
      head.active,
      head.wakeAt,
      node,
      seq,
      create.at,
      isWhole ? 1 : 0,
      create.dialect,
      create.messageId,
      create.parent,
      create.root,
      head.status,
      head.metadata,
      head.runner,
      isInline && messages !== "" ? messages : null,
      end?.artifacts ?? null,
      ended ? linesOf(write, end) : null,
    );
    if (inserted.changes === 0) {
      this.#scopes.mayBeEmpty(scope);
      return { outcome: DUPLICATE, row: 0 };
    }
    this.#key += 1;
    this.#retainer.created();
    const task: OpenTask = {
      pk: this.#key,
      id: write.task,
      scope,
      context: create.context,
      counted: create.shared,
      state: head.state,
      statusAt: head.statusAt,
      ended,
      epoch: 1,
      node: node ?? undefined,
      seq,
      inbox: new Map(),
      waiting: 0,
      hasSteps: false,
      hasArtifacts: (end?.artifacts ?? null) !== null,
      hot: [],
      hotBytes: 0,
    };
    if (create.shared) this.#countContext(task);
    this.#counters.count(task, 1);
    if (!isInline) for (const entry of history) this.#addMessage(task, entry);
    if (create.idempotency !== undefined) this.#statements.insertSent.run(task.pk, create.idempotency.digest);
    if (create.webhook !== undefined) this.#webhooks.begin(task, create.webhook);
    this.#journal.add(task.pk, write.journal);
    if (ended) {
      // The artifacts still have to be computed if the write did not contain them.
      if (end.artifacts === null) this.touched.add(task);
      return { outcome: OK, row: 0 };
    }
    this.#open.add(task);
    task.seq = 0;
    const row = this.#appendLog(task, write, undefined);
    this.#keepSteps(task, write);
    if (task.node === undefined) this.touched.add(task);
    return { outcome: OK, row };
  }

  /** The newest task that this message created at `since` or later. */
  #earlier({ scope, messageId }: CreateCommand, since: number): TaskId | undefined {
    const known = this.#scopes.find(scope);
    if (known === undefined || messageId === null) return undefined;
    const id = this.#statements.createdBy.get(known, messageId, since)?.["id"];
    return id === undefined ? undefined : (String(id) as TaskId); // Safe cast: written from a TaskId.
  }

  #appendLog(task: OpenTask, write: WriteCommand, end: EndCommand | undefined): number {
    const count = write.count + (end === undefined ? 0 : 1);
    if (count === 0) return 0;
    const body = linesOf(write, end);
    this.#row += 1;
    const row = { n: this.#row, first: task.seq + 1, last: task.seq + count, bytes: body.length };
    this.#statements.insertLog.run(row.n, task.pk, row.first, row.last, body);
    addHotRow(task, row);
    if (task.hot.length > 512 || task.hotBytes > 1_000_000) this.touched.add(task);
    return row.n;
  }

  #addMessage(task: OpenTask, { after, body, inbox }: HistoryEntry): void {
    this.#statements.insertMessage.run(task.pk, after, inbox ?? null, body);
  }

  #keepSteps(task: OpenTask, { steps, forgetSteps }: WriteCommand): void {
    if (forgetSteps && task.hasSteps) {
      this.#statements.clearSteps.run(task.pk);
      task.hasSteps = false;
    }
    for (const step of steps) this.#keepStep(task, step);
  }

  #keepStep(task: OpenTask, { key, value }: StepRecord): void {
    this.#statements.upsertStep.run(task.pk, key, value);
    task.hasSteps = true;
  }

  #setHead(task: OpenTask, head: HeadCommand, release: boolean): void {
    this.#recount(task, head);
    if (release) this.#free(task);
    this.#statements.updateHead.run(
      task.state,
      task.statusAt,
      head.active,
      head.wakeAt,
      task.node ?? null,
      task.seq,
      head.status,
      head.metadata,
      head.runner,
      task.pk,
    );
  }

  #end(task: OpenTask, end: EndCommand): void {
    if (task.waiting > 0) this.#statements.keepInbox.run(task.seq - 1, task.pk);
    if (task.inbox.size > 0) this.#statements.clearInbox.run(task.pk);
    for (const entry of end.history) this.#addMessage(task, entry);
    if (task.hasSteps) this.#statements.clearSteps.run(task.pk);
    const { head, artifacts } = end;
    this.#recount(task, head);
    this.#free(task);
    this.#retainer.taskMayBeDeleted();
    task.ended = true;
    task.hasArtifacts = artifacts !== null;
    task.inbox.clear();
    this.#statements.updateEnd.run(
      task.state,
      task.statusAt,
      head.active,
      head.wakeAt,
      task.seq,
      head.status,
      head.metadata,
      head.runner,
      artifacts,
      task.pk,
    );
  }

  #release(task: OpenTask): void {
    this.#free(task);
    this.#statements.release.run(task.seq, task.pk);
  }

  #free(task: OpenTask): void {
    task.node = undefined;
    this.touched.add(task);
  }

  #recount(task: OpenTask, head: HeadCommand): void {
    this.#counters.count(task, -1);
    task.state = head.state;
    task.statusAt = head.statusAt;
    this.#counters.count(task, 1);
  }

  #claim(task: OpenTask, claim: LeaseClaim, living: readonly string[]): Outcome {
    if (!claim.force && task.node !== undefined && living.includes(task.node))
      return { status: "held", node: task.node };
    this.#lease(task, claim.node);
    return { status: "ok", epoch: task.epoch };
  }

  #lease(task: OpenTask, node: string): void {
    task.node = node;
    task.epoch += 1;
    this.#statements.claim.run(node, task.epoch, task.pk);
  }

  #writeContext(task: OpenTask, write: ContextWrite): Outcome {
    if (!isHeldWith(task, write.epoch)) return FENCED;
    const outcome = this.#contexts.write(task, write);
    if (outcome.status === "ok" && write.step !== undefined) this.#keepStep(task, write.step);
    return outcome;
  }

  /** Counts a context from the moment a caller names it, including the one task it may already have. */
  #countContext({ scope, context }: OpenTask): void {
    const key = `${scope}/${context}`;
    if (this.#knownContexts.has(key)) return;
    if (this.#knownContexts.size >= MAX_KNOWN_CONTEXTS) this.#knownContexts.clear();
    this.#knownContexts.add(key);
    if (this.#statements.contextCounted.get(scope, context) !== undefined) return;
    for (const row of this.#statements.uncounted.all(...firstTaskRange(context), context, scope)) {
      const known = this.#open.recall(String(row["id"]));
      if (known !== undefined) known.counted = true;
      this.#statements.setCounted.run(Number(row["pk"]));
      const state = Number(row["state"]);
      this.#counters.countInContext({ scope, context, counted: true, state, statusAt: Number(row["status_at"]) });
    }
  }
}

function countedOf(task: string, { shared, context }: CreateCommand): number {
  if (shared) return COUNTED;
  return isFirstTask(task, context) ? FOUND_BY_ID : NOT_COUNTED;
}

/** Whether the webhook no longer keeps its task from being deleted. */
function releasesTask(command: WebhookOperation): boolean {
  return command.kind === "webhook-delete" || (command.kind === "webhook-advance" && command.state !== "active");
}

/** Whether a node holds the task's lease with this epoch. */
function isHeldWith({ node, epoch }: OpenTask, expected: number): boolean {
  return node !== undefined && epoch === expected;
}

/** The end of this write, unless a message in the inbox prevents it. */
function endOf(task: OpenTask, { end }: WriteCommand): EndCommand | undefined {
  return end?.unlessInbox && task.waiting > 0 ? undefined : end;
}

/** The entries of this write, including the one that ends the task. */
function linesOf({ count, lines }: WriteCommand, end: EndCommand | undefined): string {
  if (end === undefined) return lines;
  return count === 0 ? end.line : `${lines}\n${end.line}`;
}

/** Whether the entries of the write continue the log without a gap. */
function followsOn(seq: number, { after }: WriteCommand): boolean {
  return after === null || after === seq;
}
