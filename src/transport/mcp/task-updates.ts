import { A2AError } from "../../protocol/error.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { PullSource } from "../exchange.ts";
import type { OpenStream } from "../streams/stream-registry.ts";
import type { TaskName } from "./mcp-task.ts";
import type { AgentCaller } from "./operation.ts";

type Subscription = NonNullable<Awaited<ReturnType<AgentCaller["service"]["engine"]["subscribe"]>>>;

/** A task whose changes are sent. */
export interface FollowedTask {
  readonly caller: AgentCaller;
  readonly name: TaskName;
  /** The last event of the task when it was opened. Later ones are followed. */
  readonly seq: number;
  /** The task as `tasks/get` returns it now. */
  read(): Promise<JsonObject>;
}

export interface TaskUpdatesOptions {
  readonly tasks: readonly FollowedTask[];
  /** A message for the client: what the subscription covers. Sent first. */
  readonly acknowledgement: JsonObject;
  /** The message about a task. */
  readonly notification: (task: JsonObject) => JsonObject;
  /** The message that ends the subscription: nothing follows. */
  readonly completion: JsonObject;
  /** Called once, when the stream is over. */
  readonly ended: () => void;
}

/**
 * Sends tasks whenever their status has changed, as server-sent events. Each is read when its reader is ready for it, so a slow reader misses intermediate
 * states and costs no memory. The stream ends when all tasks have ended, and when the server shuts down.
 */
export class TaskUpdates implements PullSource<string>, OpenStream {
  readonly #options: TaskUpdatesOptions;
  readonly #frames: string[];
  /** Tasks that have changed since they were sent. At first all: they may have changed since the client saw them. */
  readonly #changed: Set<FollowedTask>;
  /** Tasks that can change, with their subscriptions. */
  readonly #open = new Map<FollowedTask, Subscription | undefined>();
  #ready: (() => void) | undefined;
  #isClosed = false;
  #failure: unknown;

  constructor(options: TaskUpdatesOptions) {
    this.#options = options;
    this.#frames = [frameOf(options.acknowledgement)];
    this.#changed = new Set(options.tasks);
    for (const task of options.tasks) {
      this.#open.set(task, undefined);
      this.#follow(task)
        .catch((error: unknown) => {
          this.#failure = error;
        })
        .finally(() => {
          this.#open.delete(task);
          this.#ready?.();
        });
    }
  }

  async pull(): Promise<string | undefined> {
    for (;;) {
      if (this.#frames.length > 0) return this.#frames.splice(0).join("");
      if (this.#failure !== undefined) throw this.#failure;
      if (this.#isClosed) return undefined;
      const [task] = this.#changed;
      if (task !== undefined) await this.#push(task);
      else if (this.#open.size === 0) this.#complete();
      else
        await new Promise<void>((resolve) => {
          this.#ready = resolve;
        });
    }
  }

  heartbeat(): void {
    if (this.#frames.length > 0 || this.#isClosed) return;
    this.#frames.push(": keep-alive\n\n");
    this.#ready?.();
  }

  shutdown(): void {
    this.#complete();
  }

  cancel(): void {
    this.#frames.length = 0;
    this.#close();
  }

  async #follow(task: FollowedTask): Promise<void> {
    const { caller, name, seq } = task;
    const subscription = await caller.service.engine.subscribe(caller.scope, name.id, { after: seq });
    if (subscription === undefined) return;
    if (this.#isClosed) {
      subscription.close();
      return;
    }
    this.#open.set(task, subscription);
    if (subscription.resync) this.#mark(task);
    if (subscription.ended) return;
    for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next())
      if (batch.entries.some(({ state }) => state !== undefined)) this.#mark(task);
  }

  #mark(task: FollowedTask): void {
    this.#changed.add(task);
    this.#ready?.();
  }

  async #push(task: FollowedTask): Promise<void> {
    this.#changed.delete(task);
    try {
      this.#frames.push(frameOf(this.#options.notification(await task.read())));
    } catch (error) {
      // It was deleted meanwhile.
      if (!(error instanceof A2AError && error.code === "task-not-found")) throw error;
      this.#open.get(task)?.close();
    }
  }

  /** Ends the stream with the message that says so. */
  #complete(): void {
    if (!this.#isClosed) this.#frames.push(frameOf(this.#options.completion));
    this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    for (const subscription of this.#open.values()) subscription?.close();
    this.#options.ended();
    this.#ready?.();
  }
}

function frameOf(message: JsonObject): string {
  return `event: message\ndata: ${JSON.stringify(message)}\n\n`;
}
