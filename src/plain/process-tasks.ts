import { randomUUID } from "node:crypto";
import { NotFoundError, ValidationError } from "./errors.ts";
import type {
  A2AMessage,
  A2AProcessDeps,
  A2ATask,
  A2ATaskSendRequest,
  A2ATaskState,
  ManagedAgents,
  ManagedSession,
  NewSession,
  ProcessEvent,
} from "./types.ts";

const MAX_TASKS = 1000;
/** How many finished tasks are removed for the next task above {@link MAX_TASKS}. */
const PRUNED = 100;
/** Milliseconds. */
const DEFAULT_TIMEOUT = 300_000;
/** Characters of the message in the name of its session. */
const NAME_LENGTH = 50;

interface MutableTask extends A2ATask {
  state: A2ATaskState;
  messages: A2AMessage[];
  sessionId: string;
  updatedAt: string;
}

/** All tasks by id, oldest first. It is global because `handleTaskGet` finds a task by its id alone. */
const tasks = new Map<string, ProcessTask>();

export function processTask(id: string): A2ATask | undefined {
  return tasks.get(id)?.task;
}

export function forgetProcessTasks(): void {
  for (const task of tasks.values()) task.forget();
  tasks.clear();
}

/** Sends a message to the first agent with a default project: creates a session, starts its process, and follows its events. */
export async function sendToProcess(deps: A2AProcessDeps, body: A2ATaskSendRequest): Promise<A2ATask> {
  const { text, timeoutMs } = requestOf(body);
  const agents = await agentsOf(deps);
  const agent = agents.find(({ defaultProjectId }) => Boolean(defaultProjectId));
  if (!agent?.defaultProjectId) throw new NotFoundError("Agent with default project");
  prune();
  const entry = new ProcessTask(text);
  const { task } = entry;
  tasks.set(task.id, entry);
  try {
    const session = await createSession(deps, {
      projectId: agent.defaultProjectId,
      agentId: agent.id,
      name: `A2A: ${text.slice(0, NAME_LENGTH)}`,
      initialPrompt: text,
      source: "agent",
    });
    entry.follow(session, deps, timeoutMs);
    await deps.processManager.startProcess(session, text);
  } catch (error) {
    entry.end("failed");
    throw error;
  }
  return task;
}

/** A task, its timeout and its subscription. The last state is final. */
class ProcessTask {
  readonly task: MutableTask;
  #timer: NodeJS.Timeout | undefined;
  #unsubscribe: unknown;

  constructor(text: string) {
    const now = new Date().toISOString();
    const messages: A2AMessage[] = [{ role: "user", parts: [{ type: "text", text }] }];
    this.task = { id: randomUUID(), state: "submitted", messages, sessionId: "", createdAt: now, updatedAt: now };
  }

  get #isOver(): boolean {
    return this.task.state === "completed" || this.task.state === "failed";
  }

  follow(session: ManagedSession, { processManager }: A2AProcessDeps, timeoutMs: number): void {
    this.task.sessionId = session.id;
    this.#change("working");
    this.#timer = setTimeout(() => {
      this.#say("Task timed out");
      this.end("failed");
      void processManager.stopProcess?.(session.id);
    }, timeoutMs);
    this.#timer.unref();
    this.#unsubscribe = processManager.subscribe(session.id, (_session, event) => this.#handle(event));
    // An event during the subscription may have ended the task.
    if (this.#isOver) this.forget();
  }

  end(state: "completed" | "failed"): void {
    this.forget();
    if (!this.#isOver) this.#change(state);
  }

  /** Stops the timeout and the subscription. */
  forget(): void {
    clearTimeout(this.#timer);
    if (typeof this.#unsubscribe === "function") Reflect.apply(this.#unsubscribe, undefined, []);
    this.#unsubscribe = undefined;
  }

  #handle(event: ProcessEvent): void {
    if (this.#isOver) return;
    if (event.type === "assistant") this.#say(textIn(event.message?.content));
    if (event.type === "session_exited" || event.type === "session_stopped") this.end("completed");
    if (event.type === "error") this.end("failed");
  }

  #say(text: string): void {
    if (text === "" || this.#isOver) return;
    this.task.messages.push({ role: "agent", parts: [{ type: "text", text }] });
    this.task.updatedAt = new Date().toISOString();
  }

  #change(state: A2ATaskState): void {
    this.task.state = state;
    this.task.updatedAt = new Date().toISOString();
  }
}

/** The text of a message: a string, or the texts of a list of blocks. */
function textIn(content: unknown): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  const blocks: readonly unknown[] = content;
  return blocks
    .map((block): unknown => (typeof block === "object" && block !== null ? Reflect.get(block, "text") : undefined))
    .filter((text) => typeof text === "string")
    .join("");
}

/** Active tasks stay. */
function prune(): void {
  if (tasks.size < MAX_TASKS) return;
  const over = [...tasks].filter(([, { task }]) => task.state === "completed" || task.state === "failed");
  for (const [id] of over.slice(0, PRUNED)) tasks.delete(id);
}

function requestOf(body: A2ATaskSendRequest): { readonly text: string; readonly timeoutMs: number } {
  const { message, timeoutMs = DEFAULT_TIMEOUT, taskId, sessionId } = "params" in body ? body.params : body;
  const text = typeof message === "string" ? message : (message?.parts ?? []).map((part) => part.text).join("");
  if (text === "") refuse("message", "must not be empty");
  if (!(timeoutMs > 0)) refuse("timeoutMs", "must be more than 0");
  if (taskId !== undefined) refuse("taskId", "is not supported: a task of a process manager cannot be continued");
  if (sessionId !== undefined)
    refuse("sessionId", "is not supported: each task of a process manager has a new session");
  return { text, timeoutMs };
}

function refuse(field: string, description: string): never {
  throw new ValidationError(`${field}: ${description}`, [{ field, description }]);
}

function agentsOf(deps: A2AProcessDeps): ManagedAgents | Promise<ManagedAgents> {
  if (deps.listAgents !== undefined) return deps.listAgents(deps.db);
  // Unchecked cast: the contract of `db`.
  return methodOf(deps.db, "listAgents")() as ManagedAgents;
}

function createSession(deps: A2AProcessDeps, input: NewSession): ManagedSession | Promise<ManagedSession> {
  if (deps.createSession !== undefined) return deps.createSession(deps.db, input);
  // Unchecked cast: the contract of `db`.
  return methodOf(deps.db, "createSession")(input) as ManagedSession;
}

function methodOf(db: unknown, name: string): (...values: readonly unknown[]) => unknown {
  const method: unknown = typeof db === "object" && db !== null ? Reflect.get(db, name) : undefined;
  if (typeof method !== "function") throw new TypeError(`Pass \`${name}\`: \`db\` has no method of this name.`);
  return (...values): unknown => Reflect.apply(method, db, values);
}
