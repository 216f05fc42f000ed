import { SseParser } from "../client/http/sse.ts";
import type { ArtifactChunk, ObservableLike, StatusUpdate } from "../engine/agent/agent.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { VERSION_WITH_CHOSEN_IDS } from "../wire/chosen-task-ids.ts";
import { agentPath, NOWHERE } from "./ask-server.ts";
import { knownServer, rememberServer } from "./known-servers.ts";
import type { A2AServerDeps } from "./types.ts";

/** The ids of a task that the caller has chosen. */
export interface LoopIds {
  readonly taskId: string;
  readonly contextId?: string | undefined;
}

/** An event of a task. Of a chunk, `chunk` is its text and `parts` are all its parts, as in 0.3. */
export type LoopEvent =
  | (StatusUpdate & { readonly final: boolean })
  | (ArtifactChunk & { readonly chunk: string; readonly parts: readonly JsonObject[] });

/** The result of a task, with parts as in 0.3. */
export interface LoopResult {
  readonly artifacts: readonly JsonObject[];
}

/** The events of one task. Each subscription sends the parts. Unsubscribing stops reading, and the task continues. With RxJS: `new Observable((observer) => loop.invoke(parts, ids).subscribe(observer))`. */
export interface LoopObservable extends ObservableLike<LoopEvent> {
  subscribe(observer: Partial<LoopObserver>): { unsubscribe(): void };
}

interface LoopObserver {
  next(event: LoopEvent): void;
  error(reason: unknown): void;
  complete(): void;
}

/** An agent did not complete its task. */
export class AgentLoopError extends Error {
  override readonly name = "AgentLoopError";
  /** The state of the task; absent if the server refused the message. */
  readonly state: string | undefined;

  constructor(message: string, state?: string) {
    super(message);
    this.state = state;
  }
}

// Safe: an in-process server; its own limit of events is far below.
const MAX_EVENT = 64 * 1024 * 1024;

/**
 * Runs an agent of a server in this process: each call is a task of that server, stored and resumed like every other. The caller chooses the ids; a task that waits
 * for an answer continues with the next call for its id. The server must support version 0.2. Without `deps`, the server that was last passed to a function of
 * `palaver/plain` is used.
 */
export class AgentLoop {
  readonly #deps: A2AServerDeps;

  constructor(deps: A2AServerDeps = knownServer()) {
    rememberServer(deps);
    this.#deps = deps;
  }

  /**
   * Sends the parts and returns the events of the task. It completes when the task is completed, without an event for that, and when it waits for an answer, after the
   * event that says so. It fails with an `AgentLoopError` if the task ends in another way.
   */
  invoke(parts: readonly JsonObject[], ids: LoopIds): LoopObservable {
    return {
      subscribe: (observer) => {
        const controller = new AbortController();
        void this.#run({ parts, ids }, observer, controller.signal);
        return { unsubscribe: () => controller.abort() };
      },
    };
  }

  /** Sends the parts and waits until the task is completed. Rejects with an `AgentLoopError` if it ends in another way or waits for an answer. */
  async invokeSync(parts: readonly JsonObject[], ids: LoopIds): Promise<LoopResult> {
    const response = await this.#post("message/send", { message: messageOf(parts, ids) });
    const { state, text, artifacts } = readResult(await response.json());
    if (state !== "completed") throw new AgentLoopError(text ?? `The task is ${state}.`, state);
    return { artifacts };
  }

  /** Cancels a task. Has no effect on a task that does not exist or has ended. */
  async cancel(taskId: string): Promise<void> {
    await this.#post("tasks/cancel", { id: taskId });
  }

  async #run(
    { parts, ids }: { readonly parts: readonly JsonObject[]; readonly ids: LoopIds },
    observer: Partial<LoopObserver>,
    signal: AbortSignal,
  ): Promise<void> {
    try {
      const response = await this.#post("message/stream", { message: messageOf(parts, ids) }, signal);
      for await (const answer of answersOf(response)) {
        if (signal.aborted) return;
        const event = eventOf(answer);
        if (event !== undefined) observer.next?.(event);
      }
      if (!signal.aborted) observer.complete?.();
    } catch (error) {
      if (!signal.aborted) observer.error?.(error);
    }
  }

  #post(method: string, params: object, signal?: AbortSignal): Promise<Response> {
    const { server, agentId, headers } = this.#deps;
    return server.fetch(
      new Request(`${NOWHERE}${agentPath(agentId)}/`, {
        method: "POST",
        headers: { ...headers, "content-type": "application/json", "a2a-version": VERSION_WITH_CHOSEN_IDS },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
        ...(signal !== undefined && { signal }),
      }),
    );
  }
}

function messageOf(parts: readonly JsonObject[], { taskId, contextId }: LoopIds): object {
  const ids = { taskId, ...(contextId !== undefined && { contextId }) };
  return { kind: "message", role: "user", messageId: crypto.randomUUID(), parts, ...ids };
}

/** The responses of a stream; one if the server answers without a stream. */
async function* answersOf(response: Response): AsyncGenerator<unknown> {
  if (response.headers.get("content-type") !== "text/event-stream") {
    yield await response.json();
    return;
  }
  const parser = new SseParser({ maxEventLength: MAX_EVENT });
  for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? [])
    for (const { data } of parser.push(piece)) yield JSON.parse(data);
}

/** What this server writes in 0.2, as far as it is read here. */
interface WrittenResult {
  readonly kind?: string;
  readonly status?: WrittenStatus;
  readonly artifacts?: readonly JsonObject[];
  readonly artifact?: { readonly artifactId: string; readonly parts: readonly WrittenPart[] };
  readonly parts?: readonly WrittenPart[];
  readonly append?: boolean;
  readonly lastChunk?: boolean;
}

interface WrittenStatus {
  readonly state: string;
  readonly message?: { readonly parts: readonly WrittenPart[] };
}

type WrittenPart = JsonObject & { readonly text?: string; readonly data?: JsonValue };

function resultOf(answer: unknown): WrittenResult {
  // Safe cast: a response of this package's own server.
  const { result, error } = answer as {
    readonly result?: WrittenResult;
    readonly error?: { readonly message: string };
  };
  if (result === undefined) throw new AgentLoopError(error?.message ?? "The server did not answer.");
  return result;
}

function readResult(answer: unknown): LoopResult & { readonly state: string; readonly text: string | undefined } {
  const { kind, status, artifacts = [], parts = [] } = resultOf(answer);
  // An agent may answer with a message, without a task.
  if (kind === "message") return { state: "completed", text: undefined, artifacts: [{ artifactId: "message", parts }] };
  return { state: status?.state ?? "unknown", text: textOfStatus(status), artifacts };
}

/** The event for the observer, if it is one. Throws if the task has not succeeded. */
function eventOf(answer: unknown): LoopEvent | undefined {
  const { kind, status, artifact, parts = [], append = false, lastChunk = false } = resultOf(answer);
  if (kind === "artifact-update" && artifact !== undefined) return chunkOf(artifact, { append, lastChunk });
  if (kind === "message") return chunkOf({ artifactId: "message", parts }, { append, lastChunk: true });
  if (kind !== "status-update" || status === undefined || status.state === "completed") return undefined;
  const { state } = status;
  const text = textOfStatus(status);
  if (["failed", "rejected", "canceled"].includes(state))
    throw new AgentLoopError(text ?? `The task is ${state}.`, state);
  const final = state !== "working" && state !== "submitted";
  return { type: "status-update", state, final, ...(text !== undefined && { message: text }) };
}

function chunkOf(
  { artifactId, parts }: { readonly artifactId: string; readonly parts: readonly WrittenPart[] },
  flags: { readonly append: boolean; readonly lastChunk: boolean },
): LoopEvent {
  return { type: "artifact-chunk", artifactId, chunk: textOfParts(parts), parts, ...flags };
}

function textOfStatus(status: WrittenStatus | undefined): string | undefined {
  return status?.message === undefined ? undefined : textOfParts(status.message.parts);
}

function textOfParts(parts: readonly WrittenPart[]): string {
  return parts.map(({ text, data }) => text ?? (data === undefined ? "" : JSON.stringify(data))).join("");
}
