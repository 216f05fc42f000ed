import type { StandardSchemaV1 } from "@standard-schema/spec";
import { uuidv7 } from "../../internal/uuid.ts";
import type { ContextId, MessageId, TaskId } from "../../protocol/ids.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import { isInterrupted, isTerminal, type TerminalState } from "../../protocol/state.ts";
import type { TaskStatus } from "../../protocol/task.ts";
import type { CallOptions, CallResult, CallTarget } from "../agent/call-types.ts";
import type { CallSink } from "./agent-call.ts";
import { answerOf, type CalleeAnswer } from "./answer-question.ts";
import { CallError, type CallErrorCode } from "./call-error.ts";
import { CallRequests, RETRY_MS } from "./call-requests.ts";
import {
  callResult,
  plainResult,
  resultOfMessage,
  resultOfTask,
  type StoredEnd,
  type StoredResult,
  storable,
} from "./call-result.ts";
import type { Callee, CalleeEvent, CalleeMessage } from "./callee.ts";
import { type CallingTask, questionIdOf } from "./calling-task.ts";
import { replayedCall } from "./replayed-call.ts";

/** A call as the author declares it. */
export interface DeclaredCall {
  /** Under which its results are stored. */
  readonly key: string;
  readonly target: CallTarget;
  /** What names the agent in limits and metadata. */
  readonly label: string;
  /** The agent's entry in call paths, if it is of this server. */
  readonly entry: string | undefined;
  readonly parts: readonly Part[];
  readonly options: CallOptions<StandardSchemaV1 | undefined, StandardSchemaV1 | undefined>;
  /** Aborts if the author cancels the call. */
  readonly canceled: AbortSignal;
}

/** Stored before a message is sent. */
interface SentRecord {
  readonly messageId: string;
  readonly contextId?: string;
  readonly at: number;
  readonly attempt: number;
}

/** The called task. Stored when the agent has accepted the message. */
interface TaskPlace {
  readonly taskId: string;
  readonly contextId: string;
}

/** What the events of one round end with. */
type Left = { readonly message: Message } | { readonly status: TaskStatus | undefined };

const ENDS: Readonly<Record<Exclude<TerminalState, "completed">, readonly [CallErrorCode, string]>> = {
  failed: ["call-failed", "failed"],
  rejected: ["call-rejected", "rejected the message"],
  canceled: ["call-canceled", "canceled its task"],
};

/**
 * Makes a call. What was sent, the called task and the end are stored, so that an attempt after a restart continues the same task and sends nothing
 * twice. Rejects with a `CallError`, which is stored as well; or with the reason if the run must stop.
 */
export async function runCall(task: CallingTask, call: DeclaredCall, sink: CallSink): Promise<CallResult> {
  // Safe cast: what this function has stored.
  const stored = task.recall(call.key) as StoredEnd | undefined;
  if (stored !== undefined) return replayedCall(task, call, { stored, sink });
  const made = new Call(task, call, sink);
  try {
    return await made.run();
  } catch (error) {
    if (!(error instanceof CallError) || task.signal.aborted) throw error;
    await made.failed(error);
    throw error;
  } finally {
    made.stop();
  }
}

class Call {
  readonly #task: CallingTask;
  readonly #call: DeclaredCall;
  readonly #sink: CallSink;
  readonly #requests: CallRequests;
  #callee: Callee | undefined;
  #sent: SentRecord | undefined;
  #place: TaskPlace | undefined;

  constructor(task: CallingTask, call: DeclaredCall, sink: CallSink) {
    this.#task = task;
    this.#call = call;
    this.#sink = sink;
    this.#requests = new CallRequests(task, {
      canceled: call.canceled,
      progress: () => (this.#place !== undefined ? "accepted" : (this.#callee ?? this.#sent) ? "known" : "unknown"),
      error: (code, what) => this.#error(code, what),
    });
  }

  async run(): Promise<CallResult> {
    const { key, label, entry, target, options } = this.#call;
    const task = this.#task;
    // Safe casts: what this class has stored.
    const before = task.recall(`${key}/sent`) as SentRecord | undefined;
    if (before === undefined) task.admit({ label, entry });
    this.#sent = before;
    const callee = await this.#requests.patiently(() => task.callees.find(target, task.origin));
    this.#callee = callee;
    task.requireOpen();
    this.#sent ??= this.#begin(callee);
    if (before === undefined) await task.flush();
    this.#requests.limit(this.#sent.at, options.timeout);
    const place = task.recall(`${key}/task`) as TaskPlace | undefined;
    if (place !== undefined) this.#accepted(place);
    const isNew = before === undefined;
    let events: AsyncIterable<CalleeEvent> | undefined;
    for (;;) {
      // An agent that could not be reached is asked again: nothing is sent twice that may have arrived.
      const left = await this.#requests.patiently(async () => {
        const reading = events ?? (await this.#first(callee, isNew));
        events = undefined;
        return this.#read(reading);
      });
      if ("message" in left) return this.#completed(resultOfMessage(left.message));
      const { status } = left;
      if (status !== undefined && isTerminal(status.state)) return this.#ended(callee, status.state);
      if (status === undefined || !isInterrupted(status.state)) events = this.#again(callee, status);
      else if (options.onInput === "fail")
        throw this.#error("call-needs-input", "asked a question, which this call does not answer");
      else events = await this.#requests.patiently(() => this.#answer(callee, status));
    }
  }

  /** Stores the failure of the call. A called task that is still there is canceled. */
  async failed(error: CallError): Promise<void> {
    const { key, label } = this.#call;
    const { code, message, result } = error;
    const task = this.#task;
    // A called task that may be there is canceled.
    if (result === undefined && this.#sent !== undefined) await task.abandon(key);
    task.requireOpen();
    task.ended(label, code);
    task.remember(key, json({ error: { code, message }, ...(result !== undefined && { result: storedOf(result) }) }));
    task.close(key);
    if (this.#sent !== undefined) this.#show(result?.state ?? (code === "outcome-unknown" ? code : "failed"));
    await task.flush();
  }

  stop(): void {
    this.#requests.stop();
  }

  #begin(callee: Callee): SentRecord {
    const { key, options } = this.#call;
    const task = this.#task;
    const { context = "own" } = options;
    const contextId = context === "same" ? task.contextId : context === "own" ? callee.newContextId() : context;
    const sent: SentRecord = {
      messageId: uuidv7(),
      at: task.now(),
      attempt: task.attempt,
      ...(contextId !== undefined && { contextId }),
    };
    task.remember(`${key}/sent`, json(sent));
    this.#open(callee, sent);
    this.#show("calling");
    return sent;
  }

  /** A task that is not detached is canceled with the calling task. */
  #open({ address }: Callee, { messageId, contextId }: SentRecord): void {
    const { key, options } = this.#call;
    if (options.detach === true) return;
    const place = this.#place ?? (contextId !== undefined && { contextId });
    this.#task.open({ key, address, messageId, ...place });
  }

  /** The first events: of the message that is sent now, or of the task that an earlier attempt has created. */
  async #first(callee: Callee, isNew: boolean): Promise<AsyncIterable<CalleeEvent>> {
    const { signal } = this.#requests;
    if (this.#place !== undefined) return callee.follow(this.#place.taskId, undefined, signal);
    const { at = 0, ...sent } = this.#sent ?? {};
    const message = this.#message(sent);
    if (isNew || this.#mayResend(callee, at)) return callee.send(message, signal);
    const found = await callee.find(message.message, signal);
    if (found === undefined) throw this.#unknown();
    await this.#store(found);
    return callee.follow(found.taskId, undefined, signal);
  }

  #message({ messageId = "", contextId }: Partial<SentRecord>, answer?: CalleeAnswer): CalleeMessage {
    const { parts, options } = this.#call;
    const { skill, metadata = {}, outputModes = [], budget } = options;
    const skillId = typeof skill === "string" ? skill : skill?.id;
    const own = skillId === undefined ? undefined : { skillId };
    const content = answer ?? { parts, ...(own !== undefined && { metadata: own }) };
    // Safe casts: ids that this server has made, and the task id that the agent has given.
    const message: Message = {
      messageId: messageId as MessageId,
      role: "user",
      ...content,
      ...(contextId !== undefined && contextId !== "" && { contextId: contextId as ContextId }),
      ...(answer !== undefined && { taskId: (this.#place?.taskId ?? "") as TaskId }),
      referenceTaskIds: [this.#task.id as TaskId],
    };
    return { message, metadata, outputModes, ancestry: this.#task.ancestry(budget), detached: options.detach === true };
  }

  async #read(events: AsyncIterable<CalleeEvent>): Promise<Left> {
    let status: TaskStatus | undefined;
    for await (const event of events) {
      if (event.kind === "accepted") await this.#store(event);
      else if (event.kind === "message") {
        const { message } = event;
        this.#sink.accepted({ taskId: undefined, contextId: message.contextId });
        await this.#sink.event({ ...event, text: textOf(message.parts) });
        return { message };
      } else if (event.kind === "artifact")
        await this.#sink.event({ ...event, taskId: this.#place?.taskId ?? "", text: textOf(event.artifact.parts) });
      else {
        ({ status } = event);
        await this.#shown(event.status);
      }
    }
    return { status };
  }

  async #shown(status: TaskStatus): Promise<void> {
    const { state, message } = status;
    const parts = message?.parts ?? [];
    await this.#sink.event({ kind: "status", status, taskId: this.#place?.taskId ?? "", state, text: textOf(parts) });
    if (this.#call.options.forwardStatus === true && state === "working" && parts.length > 0)
      await this.#task.status(parts);
  }

  /** Stores the called task before anything else is read of it. */
  async #store({ taskId, contextId }: TaskPlace): Promise<void> {
    if (this.#place?.taskId === taskId) return;
    const task = this.#task;
    task.requireOpen();
    this.#accepted({ taskId, contextId });
    task.remember(`${this.#call.key}/task`, { taskId, contextId });
    if (this.#callee !== undefined && this.#sent !== undefined) this.#open(this.#callee, this.#sent);
    this.#show("working");
    await task.flush();
  }

  #accepted(place: TaskPlace): void {
    this.#place = place;
    this.#sink.accepted(place);
  }

  /** Gets an answer to the agent's question and sends it. */
  async #answer(callee: Callee, status: TaskStatus): Promise<AsyncIterable<CalleeEvent>> {
    const { signal } = this.#requests;
    const { taskId, contextId } = this.#place ?? { taskId: "", contextId: "" };
    const { onInput } = this.#call.options;
    const task = this.#task;
    const id = `${this.#call.key}/question ${questionIdOf(status)}`;
    this.#show(status.state);
    const answer = await answerOf(task, {
      key: id,
      name: callee.name,
      taskId,
      status,
      onInput: onInput === "fail" ? undefined : onInput,
      changed: (until) => callee.changed(taskId, status, until),
    });
    this.#show("working");
    // The agent continues without an answer.
    if (answer === undefined) return callee.follow(taskId, status, signal);
    const before = task.recall(`${id}/sent`) as SentRecord | undefined;
    if (before !== undefined && !this.#mayResend(callee, before.at)) throw this.#unknown();
    const sent = before ?? { messageId: uuidv7(), at: task.now(), attempt: task.attempt };
    if (before === undefined) {
      task.remember(`${id}/sent`, json(sent));
      await task.flush();
    }
    return callee.send(this.#message({ ...sent, contextId }, answer), signal);
  }

  /** The events ended although the task has not. */
  async *#again(callee: Callee, status: TaskStatus | undefined): AsyncIterable<CalleeEvent> {
    const { signal } = this.#requests;
    if (this.#place === undefined) throw this.#unknown();
    await this.#requests.pause(RETRY_MS);
    yield* callee.follow(this.#place.taskId, status, signal);
  }

  async #ended(callee: Callee, state: TerminalState): Promise<CallResult> {
    const found = await this.#requests.patiently(() => callee.result(this.#place?.taskId ?? "", this.#requests.signal));
    const result = resultOfTask(found, state);
    if (state === "completed") return this.#completed(result);
    this.#task.requireOpen();
    this.#task.count(this.#call.key, result.usage);
    const said = textOf(result.message ?? []);
    const [code, did] = ENDS[state];
    const text = `${callee.name} ${did}${said === "" ? "." : `: ${said}`}`;
    throw new CallError(text, { code, result: plainResult(result) });
  }

  async #completed(result: StoredResult): Promise<CallResult> {
    const { key, label, options } = this.#call;
    const task = this.#task;
    task.requireOpen();
    task.count(key, result.usage);
    const shown = await callResult(result, options.output);
    task.requireOpen();
    task.remember(key, json({ result: storable(result) }));
    task.close(key);
    task.ended(label, "completed");
    this.#show("completed");
    await task.flush();
    return shown;
  }

  #mayResend({ resendWindow }: Callee, at: number): boolean {
    const age = this.#task.now() - at;
    return age >= 0 && age < resendWindow;
  }

  #show(state: string): void {
    const { key, label } = this.#call;
    const taskId = this.#place?.taskId;
    this.#task.show(key, { agent: label, state, ...(taskId !== undefined && { taskId }) });
  }

  #unknown(): CallError {
    return this.#error(
      "outcome-unknown",
      "may or may not have received the message: the connection or this server failed before it answered. The message is not sent again, so that the work is not done twice",
    );
  }

  #error(code: CallErrorCode, what: string): CallError {
    return new CallError(`${this.#callee?.name ?? `The agent ${JSON.stringify(this.#call.label)}`} ${what}.`, { code });
  }
}

function storedOf({ taskId, contextId, state, artifacts, parts, usage }: CallResult): StoredResult {
  return storable({
    ...(taskId !== undefined && { taskId }),
    ...(contextId !== undefined && { contextId }),
    state,
    artifacts,
    message: parts,
    usage,
  });
}

/** Safe: ends and records are plain JSON. */
function json(value: StoredEnd | SentRecord): JsonValue {
  return value as unknown as JsonValue;
}
