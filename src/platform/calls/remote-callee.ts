import { isContextRefusal } from "../../adapters/remote/remote-context.ts";
import { followAgain, isNewEvent } from "../../adapters/remote/remote-events.ts";
import { remoteFailure } from "../../adapters/remote/remote-failure.ts";
import type { AgentClient, RemoteStreamEvent } from "../../client/api.ts";
import { isSameStatus, TaskView } from "../../client/follow/task-view.ts";
import { RemoteError } from "../../client/http/errors.ts";
import { CallError, type CallErrorCode } from "../../engine/call/call-error.ts";
import type { Callee, CalleeEvent, CalleeMessage, CallOrigin } from "../../engine/call/callee.ts";
import { type Ancestry, CALLS } from "../../protocol/calls/ancestry.ts";
import type { TaskEvent } from "../../protocol/event.ts";
import type { Message } from "../../protocol/message.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";

export interface RemoteCalleeOptions {
  readonly client: AgentClient;
  readonly url: string;
  readonly origin: CallOrigin;
  readonly newContextId: () => string;
  /** Signs the ancestry of a message with this server's key. */
  readonly sign: (ancestry: Ancestry, messageId: string) => Promise<string>;
}

/** Milliseconds between two reads of a task that waits. */
const POLL_MS = 2000;

const CODES: Partial<Record<RemoteError["code"], CallErrorCode>> = {
  "outcome-unknown": "outcome-unknown",
  "loop-detected": "call-cycle",
  "blocked-url": "call-blocked-url",
  unauthenticated: "call-forbidden",
  "permission-denied": "call-forbidden",
  "no-credentials": "call-forbidden",
};

/** An agent of another server, whatever version and binding it has. */
export class RemoteCallee implements Callee {
  readonly address: Callee["address"];
  readonly entry = undefined;
  readonly #options: RemoteCalleeOptions;
  readonly #view = new TaskView({ result: "none" });

  constructor(options: RemoteCalleeOptions) {
    this.#options = options;
    this.address = { url: options.url };
  }

  get name(): string {
    return `The agent ${JSON.stringify(this.#options.client.card.name)}`;
  }

  get resendWindow(): number {
    return this.#options.client.resendWindow;
  }

  newContextId(): string {
    return this.#options.newContextId();
  }

  async *send(outgoing: CalleeMessage, signal: AbortSignal): AsyncGenerator<CalleeEvent, void> {
    const { message } = outgoing;
    try {
      yield* this.#send(outgoing, signal);
    } catch (error) {
      const isRefused = message.taskId === undefined && message.contextId !== undefined && isContextRefusal(error);
      const { contextId: _refused, ...without } = message;
      if (isRefused) yield* this.#send({ ...outgoing, message: without }, signal);
      else if (!isUnknown(error) || message.taskId !== undefined || this.resendWindow > 0)
        throw this.#failure(error, signal, NOT_TAKEN);
      else {
        const found = await this.find(message, signal);
        if (found === undefined) throw this.#failure(error, signal, NOT_TAKEN);
        yield { kind: "accepted", ...found };
        yield* this.follow(found.taskId, undefined, signal);
      }
    }
  }

  async *follow(
    taskId: string,
    answered: TaskStatus | undefined,
    signal: AbortSignal,
  ): AsyncGenerator<CalleeEvent, void> {
    const { client, origin } = this.#options;
    try {
      const events = followAgain(client.task(taskId), { signal, trace: origin.trace, answered });
      yield* this.#events(events, answered);
    } catch (error) {
      throw this.#failure(error, signal);
    }
  }

  async result(taskId: string, signal: AbortSignal): Promise<Task> {
    try {
      return await this.#options.client.task(taskId).get({ historyLength: 0, signal });
    } catch (error) {
      throw this.#failure(error, signal);
    }
  }

  /** By its context, which no other call has, where the agent lists tasks. */
  async find(
    { messageId, contextId }: Pick<Message, "messageId" | "contextId">,
    signal: AbortSignal,
  ): Promise<{ readonly taskId: string; readonly contextId: string } | undefined> {
    if (contextId === undefined) return undefined;
    try {
      const { tasks } = await this.#options.client.taskPage({ contextId, historyLength: 100, pageSize: 10, signal });
      const known = tasks.filter((task) => task.contextId === contextId);
      const exact = known.find(({ history = [] }) => history.some((message) => message.messageId === messageId));
      const [only, ...others] = known;
      const found = exact ?? (others.length === 0 && (only?.history ?? []).length === 0 ? only : undefined);
      return found && { taskId: found.id, contextId: found.contextId };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof RemoteError) return undefined;
      throw error;
    }
  }

  async changed(taskId: string, status: TaskStatus, signal: AbortSignal): Promise<void> {
    for (;;) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, POLL_MS);
        signal.addEventListener("abort", done, { once: true });
      });
      signal.throwIfAborted();
      const now = await this.#options.client
        .task(taskId)
        .get({ historyLength: 0, signal })
        .catch(() => undefined);
      if (now !== undefined && !isSameStatus(status, now.status)) return;
    }
  }

  async cancel(taskId: string, signal: AbortSignal): Promise<void> {
    try {
      await this.#options.client.task(taskId).cancel({ signal });
    } catch (error) {
      if (!isAlreadyOver(error)) throw error;
    }
  }

  async *#send(outgoing: CalleeMessage, signal: AbortSignal): AsyncGenerator<CalleeEvent, void> {
    const { client, origin, sign } = this.#options;
    const { message, metadata, outputModes, ancestry } = outgoing;
    const { taskId, contextId, ...content } = message;
    const signed = await sign(ancestry, message.messageId);
    const stream = client.stream(content, {
      ...{ metadata: { ...metadata, [CALLS]: { ancestry: signed } }, outputModes, callPath: ancestry.path },
      ...{ result: "none", signal, trace: origin.trace },
      ...(taskId !== undefined && { taskId }),
      ...(contextId !== undefined && { contextId }),
    });
    yield* this.#events(stream, taskId === undefined ? undefined : this.#view.status);
  }

  /** The new events of a stream, up to the end of the task or a new question. */
  async *#events(
    events: AsyncIterable<RemoteStreamEvent>,
    answered: TaskStatus | undefined,
  ): AsyncGenerator<CalleeEvent, void> {
    const view = this.#view;
    let isAccepted = false;
    let isShown = false;
    for await (const event of events) {
      if (event.kind === "message") {
        yield event;
        return;
      }
      // Without `event.task` for chunks: reading it builds the whole task.
      const isTask = event.kind === "task";
      if (isTask) {
        if (!isAccepted) yield { kind: "accepted", taskId: event.task.id, contextId: event.task.contextId };
        isAccepted = true;
      }
      const changes = isTask ? view.catchUp(event.task) : this.#add(event);
      for (const change of changes) {
        isShown ||= change.kind !== "artifact";
        yield* plain(change);
      }
      const { status } = view;
      if (status === undefined) continue;
      const isQuestion = isInterrupted(status.state) && (answered === undefined || !isSameStatus(answered, status));
      if (!isTerminal(status.state) && !isQuestion) continue;
      // It was known before the connection broke.
      if (!isShown) yield { kind: "status", status };
      return;
    }
  }

  #add(event: Exclude<RemoteStreamEvent, { kind: "message" | "task" }>): readonly RemoteStreamEvent[] {
    const view = this.#view;
    const bare: TaskEvent =
      event.kind === "status"
        ? { kind: "status", status: event.status, ...(event.metadata !== undefined && { metadata: event.metadata }) }
        : { kind: "artifact", artifact: event.artifact, append: event.append, lastChunk: event.lastChunk };
    if (!isNewEvent(bare, view.status)) return [];
    // Only an agent that never sends its task needs the ids of the event.
    const { id, contextId } = view.id === undefined ? event.task : { id: view.id, contextId: view.contextId };
    return [view.add(bare, { taskId: id, contextId: contextId ?? event.task.contextId })];
  }

  #failure(error: unknown, signal: AbortSignal, transient = TRANSIENT): unknown {
    if (signal.aborted || !(error instanceof RemoteError)) return error;
    // An agent that counts messages once is sent it again.
    const mayRepeat = error.code === "outcome-unknown" && this.resendWindow > 0;
    const code = mayRepeat ? "call-unavailable" : (CODES[error.code] ?? "call-unavailable");
    const { message } =
      code === "outcome-unknown"
        ? {
            message: `${this.name} may or may not have received the message, and it is not sent again, so that the work is not done twice.`,
          }
        : code === "call-cycle"
          ? {
              message: `${this.name} refused the message: it would go round in a circle, or too many agents have forwarded it.`,
            }
          : remoteFailure(this.name, error);
    return new CallError(message, {
      code,
      data: { error: error.code },
      cause: error,
      transient: mayRepeat || transient.includes(error.code),
    });
  }
}

/** Codes after which a message has not been taken, and may be sent again. */
const NOT_TAKEN: readonly RemoteError["code"][] = ["network", "unavailable", "rate-limited", "resource-exhausted"];
/** Codes after which a read may succeed soon. */
const TRANSIENT: readonly RemoteError["code"][] = [...NOT_TAKEN, "timeout", "stream-lost"];

export function isTransient({ code, remote: { httpStatus = 0 } }: RemoteError): boolean {
  return TRANSIENT.includes(code) || (code === "card-not-found" && httpStatus >= 500);
}

/** The task has ended or is gone, so there is nothing to cancel. */
export function isAlreadyOver(error: unknown): boolean {
  return error instanceof RemoteError && (error.code === "task-not-cancelable" || error.code === "task-not-found");
}

function isUnknown(error: unknown): boolean {
  return error instanceof RemoteError && error.code === "outcome-unknown";
}

function* plain(event: RemoteStreamEvent): Generator<CalleeEvent, void> {
  if (event.kind === "task") {
    for (const artifact of event.task.artifacts ?? [])
      yield { kind: "artifact", artifact, append: false, lastChunk: false };
    yield { kind: "status", status: event.task.status };
  } else if (event.kind === "status")
    yield { kind: "status", status: event.status, ...(event.metadata !== undefined && { metadata: event.metadata }) };
  else if (event.kind === "artifact")
    yield { kind: "artifact", artifact: event.artifact, append: event.append, lastChunk: event.lastChunk };
}
