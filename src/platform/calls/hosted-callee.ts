import { type Agent, TaskAborted } from "../../engine/agent/agent.ts";
import type { Engine, Submitted, Subscription } from "../../engine/api.ts";
import { CallError } from "../../engine/call/call-error.ts";
import type { Callee, CalleeEvent, CalleeMessage, CallOrigin } from "../../engine/call/callee.ts";
import { callPathEntry } from "../../protocol/call-path.ts";
import { A2AError } from "../../protocol/error.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Message } from "../../protocol/message.ts";
import type { Scope } from "../../protocol/principal.ts";
import { readEvent, readTask } from "../../protocol/serial.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";

export interface HostedCalleeOptions {
  readonly engine: Engine;
  readonly agent: Agent;
  readonly serverId: string;
  readonly origin: CallOrigin;
  /** Throws an `A2AError` if the caller may not use the skill. */
  readonly admitSkill?: ((skill: string) => void) | undefined;
}

/** Milliseconds: a message id of a call counts once for as long as its task is stored. */
const COUNTS_ONCE_FOR = 10 * 365 * 24 * 3_600_000;

/** An agent of this server. It is called through the engine: without HTTP, in the name of the caller of the calling task. */
export class HostedCallee implements Callee {
  readonly address: Callee["address"];
  readonly name: string;
  readonly entry: string;
  readonly resendWindow: number = Number.POSITIVE_INFINITY;
  readonly #options: HostedCalleeOptions;
  readonly #scope: Scope;
  /** Seq of the last event that was read. */
  #seq = 0;

  constructor(options: HostedCalleeOptions) {
    const { agent, serverId, origin } = options;
    this.#options = options;
    this.#scope = { ...origin.scope, agent: agent.id };
    this.address = { agent: agent.id };
    this.name = `The agent ${JSON.stringify(agent.name)}`;
    this.entry = callPathEntry(serverId, agent.id);
  }

  newContextId(): undefined {
    return undefined;
  }

  async *send(outgoing: CalleeMessage, signal: AbortSignal): AsyncGenerator<CalleeEvent, void> {
    const { engine, origin, admitSkill } = this.#options;
    const { message, metadata, outputModes, ancestry } = outgoing;
    const { caller, dialect, trace } = origin;
    const submit = async (): Promise<Submitted> =>
      engine.submit({
        call: {
          ...{ principal: caller, dialect, trace, ancestry, signal, callPath: ancestry.path, activeExtensions: [] },
          // Every call has a task, so that a repeated message finds it.
          policy: { namesTasks: false, tasksOnly: true },
        },
        request: { operation: "send", message, metadata, outputModes },
        scope: this.#scope,
        idempotencyWindow: COUNTS_ONCE_FOR,
        admitSkill,
      });
    const submitted = await submit().catch((error: unknown) => this.#refused(error, message));
    // The cancel of the calling task did not find this task, because it was not there yet.
    if (submitted?.kind === "task" && !outgoing.detached && isGivenUp(signal))
      await engine.cancel(this.#scope, submitted.ticket.taskId);
    signal.throwIfAborted();
    if (submitted?.kind === "message") yield { kind: "message", message: submitted.message };
    else {
      const place = submitted?.ticket ?? message;
      const taskId = place.taskId ?? "";
      if (message.taskId === undefined) yield { kind: "accepted", taskId, contextId: place.contextId ?? "" };
      yield* this.follow(taskId, undefined, signal);
    }
  }

  /** The events after those that this object has returned before. */
  async *follow(
    taskId: string,
    _answered: TaskStatus | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<CalleeEvent, void> {
    const subscription = await this.#subscribe(taskId);
    const close = (): void => subscription.close();
    signal.addEventListener("abort", close, { once: true });
    try {
      if (subscription.resync || subscription.ended) {
        const { artifacts = [], status } = readTask(subscription.opening);
        for (const artifact of artifacts) yield { kind: "artifact", artifact, append: false, lastChunk: false };
        this.#seq = subscription.opening.seq;
        yield { kind: "status", status };
        if (isTerminal(status.state) || isInterrupted(status.state)) return;
      }
      for (;;) {
        const batch = await subscription.next();
        signal.throwIfAborted();
        if (batch === undefined) return;
        for (const { seq, body, state } of batch.entries) {
          this.#seq = seq;
          yield readEvent(body);
          if (state !== undefined && (isTerminal(state) || isInterrupted(state))) return;
        }
      }
    } finally {
      signal.removeEventListener("abort", close);
      close();
    }
  }

  async result(taskId: string): Promise<Task> {
    const stored = await this.#options.engine.snapshot(this.#scope, taskId as TaskId, { artifacts: true, history: 0 });
    if (stored === undefined) throw gone(this.name);
    return readTask(stored);
  }

  async find({ messageId }: Pick<Message, "messageId">): Promise<{ taskId: string; contextId: string } | undefined> {
    const ticket = await this.#options.engine.findByMessage(this.#scope, messageId);
    return ticket && { taskId: ticket.taskId, contextId: ticket.contextId };
  }

  async changed(taskId: string, status: TaskStatus, signal: AbortSignal): Promise<void> {
    const { engine } = this.#options;
    for (let after = this.#seq; ; ) {
      await engine.changed(this.#scope, taskId as TaskId, { after, caller: { signal } });
      signal.throwIfAborted();
      const stored = await engine.snapshot(this.#scope, taskId as TaskId, { artifacts: false, history: 0 });
      if (stored === undefined) return;
      const now = readTask(stored).status;
      if (now.message?.messageId !== status.message?.messageId || now.state !== status.state) return;
      after = stored.seq;
    }
  }

  async cancel(taskId: string): Promise<void> {
    await this.#options.engine.cancel(this.#scope, taskId as TaskId);
  }

  async #subscribe(taskId: string): Promise<Subscription> {
    const found = await this.#options.engine.subscribe(this.#scope, taskId as TaskId, { after: this.#seq });
    if (found === undefined) throw gone(this.name);
    return found;
  }

  /** An answer to a task that has ended is no failure: the end is read next. */
  #refused(error: unknown, { taskId }: Message): undefined {
    if (!(error instanceof A2AError)) throw error;
    const { code, message } = error;
    if (taskId !== undefined && code === "unsupported-operation") return undefined;
    const isForbidden = code === "permission-denied" || code === "unauthenticated";
    throw new CallError(`${this.name} refused the message: ${message}`, {
      code: isForbidden ? "call-forbidden" : "call-unavailable",
      transient: code === "unavailable" || code === "resource-exhausted",
      data: { error: code },
      cause: error,
    });
  }
}

/** The call is over for good. After other aborts, a later attempt of the calling task continues it. */
function isGivenUp({ aborted, reason }: AbortSignal): boolean {
  return aborted && !(reason instanceof TaskAborted && reason.reason !== "canceled" && reason.reason !== "timeout");
}

function gone(name: string): CallError {
  return new CallError(`${name} no longer has the task.`, { code: "call-failed" });
}
