import type {
  Batch,
  Caller,
  CancelResult,
  ChangeWait,
  Engine,
  SnapshotOptions,
  Submission,
  Submitted,
  SubscribeOptions,
  Subscription,
  TaskPage,
  Ticket,
  ViewEntry,
} from "../../engine/api.ts";
import { uuidv7 } from "../../internal/uuid.ts";
import { A2AError, invalidField } from "../../protocol/error.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import { ArtifactFold } from "../../protocol/fold.ts";
import type { ArtifactId, ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import { textOf } from "../../protocol/part.ts";
import type { Scope } from "../../protocol/principal.ts";
import { readEvent, type StoredTask, writeEvent, writeMessage, writeStatus } from "../../protocol/serial.ts";
import { isInterrupted, isTerminal, type TaskState } from "../../protocol/state.ts";
import type { ListQuery } from "../../store/contract.ts";

const STOPS: ReadonlyMap<string, TaskState> = new Map([
  ["ask", "input-required"],
  ["auth", "auth-required"],
  ["fail", "failed"],
]);

interface ScriptedTask {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly scope: Scope;
  readonly dialect: string;
  readonly log: ViewEntry[];
  readonly history: string[];
  firstSeq: number;
  state: TaskState;
  status: string;
  statusAt: number;
  messageId: string | undefined;
  wake: Set<() => void>;
}

/**
 * An engine without agents: the text of a message decides about its task (`hang`, `ask`, `auth`, `fail`; any other text is
 * echoed), and tests add events themselves. All data is in memory and counts as stored immediately.
 */
export class ScriptedEngine implements Engine {
  readonly tasks: Map<TaskId, ScriptedTask> = new Map();
  readonly submissions: Submission[] = [];
  subscriptions = 0;
  unready: Error | undefined;
  /** Thrown by `submit` if set. */
  refusal: Error | undefined;
  /** Changes or delays every subscription before it is returned. */
  onSubscribe: (subscription: Subscription) => Subscription | Promise<Subscription> = (subscription) => subscription;
  #now = Date.parse("2026-01-01T00:00:00.000Z");

  async submit(submission: Submission): Promise<Submitted> {
    if (this.refusal !== undefined) throw this.refusal;
    const { call, request, scope } = submission;
    const { message } = request;
    const { namesTasks, tasksOnly } = call.policy;
    const text = textOf(message.parts);
    if (text.startsWith("message:") && !tasksOnly) {
      const contextId = (message.contextId ?? uuidv7()) as ContextId;
      const reply = { messageId: "reply-1" as MessageId, role: "agent" as const, parts: [{ text }], contextId };
      this.submissions.push(submission);
      return { kind: "message", message: reply };
    }
    const known = message.taskId === undefined ? undefined : this.#find(scope, message.taskId);
    const isNew = known === undefined && (message.taskId === undefined || namesTasks);
    const task = isNew ? this.#create(submission) : known;
    if (task === undefined) throw new A2AError("task-not-found", "Task not found");
    if (!isNew) {
      if (message.contextId !== undefined && message.contextId !== task.contextId) {
        throw invalidField("message.contextId", "is not the context of the task");
      }
      if (isTerminal(task.state)) throw new A2AError("unsupported-operation", "The task is finished");
    }
    this.submissions.push(submission);
    task.history.push(writeMessage({ ...message, taskId: task.id, contextId: task.contextId }));
    this.#play(task, text);
    return { kind: "task", ticket: this.#ticket(task) };
  }

  /** The waits for a change of a task. */
  readonly waits: ChangeWait[] = [];

  async changed(_scope: Scope, _id: TaskId, wait: ChangeWait): Promise<void> {
    this.waits.push(wait);
  }

  async snapshot(scope: Scope, id: TaskId, options: SnapshotOptions): Promise<StoredTask | undefined> {
    const task = this.#find(scope, id);
    return task === undefined ? undefined : stored(task, options);
  }

  async find(scope: Scope, id: TaskId): Promise<Ticket | undefined> {
    const task = this.#find(scope, id);
    return task && this.#ticket(task);
  }

  async list(query: ListQuery): Promise<TaskPage> {
    const { scope, before } = query;
    const matching = [...this.tasks.values()]
      .filter((task) => this.#find(scope, task.id) !== undefined)
      .filter((task) => query.contextId === undefined || task.contextId === query.contextId)
      .filter((task) => query.state === undefined || task.state === query.state)
      .filter((task) => query.statusSince === undefined || task.statusAt >= query.statusSince)
      .toSorted((a, b) => b.statusAt - a.statusAt || (a.id < b.id ? 1 : -1));
    const after = (task: ScriptedTask): boolean =>
      before === undefined || task.statusAt < before.at || (task.statusAt === before.at && task.id < before.id);
    const rest = matching.filter(after);
    const page = rest.slice(0, query.limit);
    const last = page.at(-1);
    return {
      tasks: page.map((task) => stored(task, query)),
      total: matching.length,
      ...(rest.length > page.length && last !== undefined && { next: { at: last.statusAt, id: last.id } }),
    };
  }

  async cancel(scope: Scope, id: TaskId): Promise<CancelResult> {
    const task = this.#find(scope, id);
    if (task === undefined) return "not-found";
    if (task.state === "canceled") return "repeated";
    if (isTerminal(task.state)) return "too-late";
    this.status(id, "canceled");
    return "canceled";
  }

  async subscribe(scope: Scope, id: TaskId, options: SubscribeOptions): Promise<Subscription | undefined> {
    const task = this.#find(scope, id);
    if (task === undefined) return undefined;
    const end = task.log.length;
    const from = options.after ?? end;
    if (from > end) throw invalidField("Last-Event-ID", "is beyond the end of the log");
    const resync = from + 1 < task.firstSeq;
    return this.#subscription(task, resync ? end : from, { resync, whole: resync || options.after === undefined });
  }

  async findByMessage(scope: Scope, messageId: string): Promise<Ticket | undefined> {
    for (const task of this.tasks.values()) {
      if (task.messageId !== messageId || this.#find(scope, task.id) === undefined) continue;
      return this.#ticket(task);
    }
    return undefined;
  }

  alive(): void {}

  async ready(): Promise<void> {
    if (this.unready !== undefined) throw this.unready;
  }

  /** The newest task's id. */
  get latest(): TaskId {
    const id = [...this.tasks.keys()].at(-1);
    if (id === undefined) throw new Error("No task exists yet.");
    return id;
  }

  status(id: TaskId, state: TaskState): void {
    this.emit(id, { kind: "status", status: { state, timestamp: new Date(this.#tick()).toISOString() } });
  }

  chunk(id: TaskId, text: string): void {
    const artifact = { artifactId: "result" as ArtifactId, name: "result", parts: [{ text }] };
    this.emit(id, { kind: "artifact", artifact, append: true, lastChunk: false });
  }

  emit(id: TaskId, event: TaskEvent): void {
    const task = this.tasks.get(id);
    if (task === undefined) throw new Error("Task not found.");
    const state = event.kind === "status" ? { state: event.status.state } : {};
    task.log.push({ seq: task.log.length + 1, body: writeEvent(event), encoded: new Map(), ...state });
    if (event.kind === "status") {
      task.state = event.status.state;
      task.status = writeStatus(event.status);
      task.statusAt = Date.parse(event.status.timestamp ?? "");
    }
    this.wakeAll(task);
  }

  wakeAll(task: ScriptedTask): void {
    const { wake } = task;
    task.wake = new Set();
    for (const callback of wake) callback();
  }

  #ticket(task: ScriptedTask): Ticket {
    return {
      taskId: task.id,
      key: task.id,
      contextId: task.contextId,
      stored: async () => {},
      consumed: async () => {},
      settled: (caller) => this.#settled(task, caller),
      snapshot: async (options) => stored(task, options),
      subscribe: () => this.#subscription(task, 0, { resync: false, whole: true }),
    };
  }

  async #settled(task: ScriptedTask, { signal }: Caller): Promise<void> {
    while (!isTerminal(task.state) && !isInterrupted(task.state)) {
      signal.throwIfAborted();
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      task.wake.add(resolve);
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      await promise;
    }
  }

  #tick(): number {
    this.#now += 1000;
    return this.#now;
  }

  #create({ call, request, scope }: Submission): ScriptedTask {
    const { message, operation } = request;
    const at = this.#tick();
    const task: ScriptedTask = {
      id: message.taskId ?? (uuidv7() as TaskId),
      contextId: message.contextId ?? (uuidv7() as ContextId),
      scope,
      dialect: call.dialect,
      log: [],
      history: [],
      firstSeq: 1,
      state: "submitted",
      status: writeStatus({ state: "submitted", timestamp: new Date(at).toISOString() }),
      statusAt: at,
      messageId: operation === "stream" ? message.messageId : undefined,
      wake: new Set(),
    };
    this.tasks.set(task.id, task);
    return task;
  }

  #play(task: ScriptedTask, text: string): void {
    this.status(task.id, "working");
    if (text === "hang") return;
    const stop = STOPS.get(text);
    if (stop === undefined) this.chunk(task.id, text);
    this.status(task.id, stop ?? "completed");
  }

  #find(scope: Scope, id: TaskId): ScriptedTask | undefined {
    const task = this.tasks.get(id);
    const mine =
      task?.scope.owner === scope.owner && task.scope.tenant === scope.tenant && task.scope.agent === scope.agent;
    return mine ? task : undefined;
  }

  async #subscription(
    task: ScriptedTask,
    from: number,
    start: { resync: boolean; whole: boolean },
  ): Promise<Subscription> {
    this.subscriptions += 1;
    let cursor = from;
    let closed = false;
    const read = (): Batch | undefined => {
      const entries: ViewEntry[] = [];
      for (const entry of task.log.slice(cursor)) {
        entries.push(entry);
        if (entry.state !== undefined && (isTerminal(entry.state) || isInterrupted(entry.state))) break;
      }
      cursor += entries.length;
      return entries.length === 0 ? undefined : { entries, answered: true };
    };
    const next = async (): Promise<Batch | undefined> => {
      for (;;) {
        if (closed) return undefined;
        const batch = read();
        if (batch !== undefined || isTerminal(task.state)) return batch;
        const { promise, resolve } = Promise.withResolvers<void>();
        task.wake.add(resolve);
        await promise;
      }
    };
    return this.onSubscribe({
      opening: start.whole
        ? stored(task, { artifacts: true }, from)
        : stored(task, { artifacts: false, history: 0 }, from),
      resync: start.resync,
      ended: isTerminal(task.state) && cursor === task.log.length,
      answered: false,
      next,
      take: (reader) => {
        next().then(
          (batch) => reader.arrived(batch),
          (error: unknown) => reader.failed(error),
        );
      },
      close: () => {
        if (closed) return;
        closed = true;
        this.subscriptions -= 1;
        this.wakeAll(task);
      },
    });
  }
}

function stored(task: ScriptedTask, options: SnapshotOptions, upTo: number = task.log.length): StoredTask {
  const fold = new ArtifactFold();
  let state: TaskState = "submitted";
  let status = writeStatus({ state, timestamp: "2026-01-01T00:00:00.000Z" });
  for (const entry of task.log.slice(0, upTo)) {
    const event = readEvent(entry.body);
    fold.add(event);
    if (event.kind === "status") {
      state = event.status.state;
      status = writeStatus(event.status);
    }
  }
  const artifacts = fold.artifacts();
  const history = options.history === undefined ? task.history : task.history.slice(-options.history);
  return {
    id: task.id,
    contextId: task.contextId,
    dialect: task.dialect,
    seq: upTo,
    state,
    status,
    ...(options.artifacts && artifacts.length > 0 && { artifacts: JSON.stringify(artifacts) }),
    ...(options.history !== 0 && { history: `[${history.join(",")}]` }),
  };
}
