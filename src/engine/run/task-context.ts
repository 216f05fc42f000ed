import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Artifact } from "../../protocol/artifact.ts";
import { type CallPath, callPathEntry } from "../../protocol/call-path.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import type { Principal } from "../../protocol/principal.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import {
  type AgentCall,
  type ArtifactOptions,
  type ArtifactWriter,
  type AskOptions,
  type AuthOptions,
  type AuthRequest,
  type CallOptions,
  type CallTarget,
  type ContextValues,
  type ConversationMessage,
  type ConversationOptions,
  type Output,
  type ReceivedFile,
  type StatusLinks,
  type StepContext,
  type StepOptions,
  TaskAborted,
  type TaskContext,
  type TaskLog,
  type ToolCall,
  type ToolCallResult,
  type Usage,
} from "../agent/agent.ts";
import { filesOf, toMessageParts, toParts } from "../agent/output.ts";
import { Rejection } from "../agent/rejection.ts";
import { linkedTasks } from "../agent/status-links.ts";
import { TaskFailure } from "../agent/task-failure.ts";
import type { ForwardedQuestion } from "../call/calling-task.ts";
import { TaskCalls } from "../call/task-calls.ts";
import type { CallResults } from "../context/call-results.ts";
import { StoredContextValues } from "../context/context-values.ts";
import { readConversation } from "../context/conversation.ts";
import { toolCallPart, toolResultOfCall } from "../context/tool-calls.ts";
import { fingerprint } from "../log/fingerprint.ts";
import { mergeMetadata, metadataChange } from "../log/task-metadata.ts";
import { addUsage, usageCounters } from "../log/task-usage.ts";
import { callerOf } from "../record/runner-record.ts";
import { RESOLVED } from "./call-order.ts";
import type { CallHost, ContextOptions, QuestionHost } from "./context-host.ts";
import type { ArtifactTarget } from "./emitter.ts";
import type { Memory } from "./memory.ts";
import { type NextOptions, nextMessage } from "./next-message.ts";
import { askCaller } from "./questions/ask.ts";
import { requireAuth } from "./questions/require-auth.ts";
import { sleep } from "./sleep.ts";
import { runStep } from "./step.ts";

/** The name of the artifact that receives what a run yields or returns. */
export const RESULT = "result";
// Safe: as in `artifact`.
const RESULT_TARGET: ArtifactTarget = { id: RESULT as ArtifactId, name: RESULT };

/** The `task` argument of the agent's code, for one attempt of one turn. */
export class RunContext implements TaskContext<unknown> {
  readonly #options: ContextOptions;
  #remembered: Memory | undefined;
  #contextValues: ContextValues | undefined;
  #hasReturned = false;
  #setsOtherMetadata = false;
  #calls: TaskCalls | undefined;
  #overBudget: TaskFailure | undefined;

  constructor(options: ContextOptions) {
    this.#options = options;
  }

  get id(): string {
    return publicTaskId(this.#options.writer.ref.id);
  }
  get contextId(): string {
    return this.#options.writer.ref.contextId;
  }
  get trace(): TraceContext | undefined {
    return this.#options.run.observer.trace;
  }
  get message(): Message {
    return this.#options.turn.message;
  }
  get text(): string {
    return textOf(this.message.parts);
  }
  get data(): unknown {
    return this.#options.turn.data;
  }
  get files(): readonly ReceivedFile[] {
    return filesOf(this.message.parts);
  }
  get history(): readonly Message[] {
    return this.#options.turn.history;
  }
  get artifacts(): readonly Artifact[] {
    return this.#options.turn.artifacts;
  }
  get caller(): Principal {
    return callerOf(this.#options.writer.runner);
  }
  get tenant(): string {
    return this.#options.writer.ref.scope.tenant;
  }
  get metadata(): JsonObject {
    return this.#options.writer.runner.metadata ?? {};
  }
  get outputModes(): readonly string[] {
    return this.#options.writer.runner.outputModes ?? [];
  }
  get extensions(): readonly string[] {
    return this.#options.writer.runner.extensions ?? [];
  }
  get callPath(): CallPath {
    const { writer, run } = this.#options;
    return [...(writer.runner.callPath ?? []), callPathEntry(run.serverId, writer.ref.scope.agent)];
  }
  get skillId(): string | undefined {
    return this.#options.turn.skillId;
  }
  get attempt(): number {
    return this.#options.writer.runner.attempt;
  }
  get signal(): AbortSignal {
    return this.#options.run.signal;
  }
  get log(): TaskLog {
    const { logger } = this.#options.run;
    const about = (details: object | undefined): object => ({ ...details, ...this.#ids() });
    return {
      debug: (message, details) => logger.debug(message, about(details)),
      info: (message, details) => logger.info(message, about(details)),
      warn: (message, details) => logger.warn(message, about(details)),
      error: (message, details) => logger.error(message, about(details)),
    };
  }

  get context(): ContextValues {
    const { writer, run } = this.#options;
    this.#contextValues ??= new StoredContextValues({
      writer,
      storage: run.storage,
      results: () => this.#results(),
      guarded: (work) => this.#guarded(work),
      requireOpen: () => this.#requireOpen(),
    });
    return this.#contextValues;
  }

  write(output: Output): Promise<void> {
    return this.#guarded(() => this.#options.emitter.write(RESULT_TARGET, toParts(output), false));
  }

  conversation(options: ConversationOptions = {}): Promise<readonly ConversationMessage[]> {
    const { run, writer, turn } = this.#options;
    return this.#guarded(() =>
      readConversation({ store: run.storage.store, ref: writer.ref, turn, results: this.#results() }, options),
    );
  }

  status(message?: string | Part | readonly Part[], metadata?: JsonObject | StatusLinks): Promise<void> {
    return this.#guarded(() => {
      const parts = message === undefined ? undefined : toMessageParts(message);
      const linked = parts === undefined ? undefined : linkedTasks(metadata);
      // Safe cast: without links it is metadata.
      if (linked === undefined) return this.#options.emitter.status(parts, metadata as JsonObject | undefined);
      return this.#options.emitter.status(parts, linked.metadata, linked.referenceTaskIds);
    });
  }

  setMetadata(metadata: Readonly<Record<string, JsonValue | undefined>>): Promise<void> {
    return this.#guarded(() => this.#setMetadata(metadata));
  }

  /**
   * Each call is stored, so that a replay does not set an older value again: a replay skips the stored calls, up to the first one that sets
   * something else.
   */
  #setMetadata(metadata: Readonly<Record<string, JsonValue | undefined>>): Promise<void> {
    const { writer, emitter } = this.#options;
    const memory = this.#memory();
    const change = metadataChange(metadata);
    const digest = fingerprint(JSON.stringify(change));
    // The key contains the step, because a replay does not repeat the calls of a step whose result is stored.
    const key = memory.key("metadata", emitter.currentStep ?? "");
    const known = memory.recall(key);
    if (known?.kind === "metadata") {
      if (known.digest === digest && !this.#setsOtherMetadata) return RESOLVED;
      this.#setsOtherMetadata = true;
    }
    const merged = mergeMetadata(writer.metadata, change);
    memory.remember(key, { kind: "metadata", digest });
    writer.setMetadata(merged);
    return writer.room() ?? RESOLVED;
  }

  usage(usage: Usage): Promise<void> {
    return this.#guarded(() => {
      const { model, counters } = usageCounters(usage);
      const { writer, emitter } = this.#options;
      const memory = this.#memory();
      const key = memory.key("usage", emitter.currentStep ?? "");
      // What an earlier attempt has counted is in the metadata.
      if (memory.recall(key) === undefined) {
        const metadata = addUsage(writer.metadata, counters, model);
        memory.remember(key, { kind: "done" });
        writer.setMetadata(metadata);
        this.#options.run.children?.counted(Object.fromEntries(counters));
        this.#options.run.calls?.onUsage?.(writer.ref.scope.agent, { model, counters });
      }
      this.#checkBudget();
      return writer.room() ?? RESOLVED;
    });
  }

  // The overloads of TaskContext have the types of messages and results.
  // biome-ignore lint/suspicious/noExplicitAny: an implementation behind overloads
  call(target: CallTarget, message: any, options: CallOptions<any, any> = {}): AgentCall<any> {
    this.#requireOpen();
    const made = this.#madeCalls();
    if (made === undefined)
      throw new Error("This server cannot call other agents: its engine was created without callees.");
    // Safe cast: the overloads accept outputs only, and toParts rejects everything else.
    return made.call(target, message as Output, options);
  }

  callMetadata(messageId: string): Promise<JsonObject> {
    return this.#guarded(async () => (await this.#madeCalls()?.metadataFor(messageId)) ?? {});
  }

  #madeCalls(): TaskCalls | undefined {
    const { calls, children } = this.#options.run;
    if (calls === undefined || children === undefined) return undefined;
    this.#calls ??= new TaskCalls({
      host: this.#questionHost(),
      environment: calls,
      children,
      contextId: this.contextId,
      callPath: this.callPath,
      status: (parts) => this.status(parts),
      forward: (question) => this.#forward(question),
    });
    return this.#calls;
  }

  /** Asks the caller a question of a called agent. */
  async #forward({ name, kind, parts, sensitive, until }: ForwardedQuestion): Promise<Message | undefined> {
    const answer = await requireAuth(this.#questionHost(), {
      ...{ name, until, sensitive, explanation: parts, described: false, input: kind === "input" },
    });
    // A secret is returned as text only if one was asked for.
    return typeof answer === "string" ? undefined : answer;
  }

  /** The agent's code has called other agents. */
  get hasCalls(): boolean {
    return this.#calls !== undefined;
  }

  /** Cancels the calls that the agent's code has not awaited. */
  async endCalls(): Promise<void> {
    try {
      await this.#calls?.end();
    } catch (error) {
      this.#options.run.logger.debug("Called tasks could not be canceled", { ...this.#ids(), error });
    }
  }

  /** Throws a `TaskFailure` if the tree of this task has used more than its budget. */
  requireBudget(): void {
    if (this.#overBudget !== undefined) throw this.#overBudget;
  }

  /** Once the budget is used up, every further call of the agent's code fails: it cannot go on by ignoring the error. */
  #checkBudget(): void {
    const excess = this.#options.run.children?.excess;
    if (excess === undefined) return;
    this.#overBudget = new TaskFailure(excess, { code: "budget-exceeded", data: { code: "budget-exceeded" } });
    throw this.#overBudget;
  }

  toolCall(call: ToolCall): Promise<void> {
    return this.#guarded(() => this.#reportOnce(`tool-call:${call.id}`, toolCallPart(call)));
  }

  toolResult(result: ToolCallResult): Promise<void> {
    return this.#guarded(() => this.#reportOnce(`tool-result:${result.id}`, toolResultOfCall(result)));
  }

  /** Writes a status, unless this or an earlier attempt has written it. Parallel calls may come in another order in a replay. */
  #reportOnce(key: string, part: Part): Promise<void> {
    const memory = this.#memory();
    return memory.recall(key) === undefined
      ? this.#options.emitter.statusOnce([part], () => memory.remember(key, { kind: "done" }))
      : RESOLVED;
  }

  artifact(name: string, options: ArtifactOptions = {}): ArtifactWriter {
    // Safe: the writer of an artifact chooses its id. The name is the id, so it is the same in every attempt.
    const target: ArtifactTarget = { ...options, id: name as ArtifactId, name };
    const { emitter } = this.#options;
    return {
      write: (output) => this.#guarded(() => emitter.write(target, toParts(output), false)),
      replace: (output) => this.#guarded(() => emitter.replace(target, toParts(output))),
      end: (output) =>
        this.#guarded(() =>
          output === undefined ? emitter.complete(target) : emitter.write(target, toParts(output), true),
        ),
    };
  }

  /** Writes a value that the run yields. `undefined`: more can be written now; otherwise resolves when it can. */
  yielded(output: Output): Promise<void> | undefined {
    this.#requireOpen();
    const written = this.#options.emitter.write(RESULT_TARGET, toParts(output), false);
    return written === RESOLVED ? undefined : written;
  }

  /** Writes the value that the run returned, and completes the artifact. `undefined`: nothing has to be awaited. */
  returned(output: Output): Promise<void> | undefined {
    this.#requireOpen();
    const written = this.#options.emitter.write(RESULT_TARGET, toParts(output), true);
    return written === RESOLVED ? undefined : written;
  }

  step<T>(name: string, work: (step: StepContext) => T | Promise<T>, options?: StepOptions<T>): Promise<T> {
    return this.#guarded(() => runStep(this.#callHost(), name, { work, ...options }));
  }

  sleep(milliseconds: number, options: { readonly name?: string } = {}): Promise<void> {
    return this.#guarded(() => sleep(this.#callHost(), milliseconds, options));
  }

  // The overloads of TaskContext have the result types; here the result is whatever the schema returns.
  // biome-ignore lint/suspicious/noExplicitAny: an implementation behind overloads
  ask(question: string | Part | readonly Part[], options: AskOptions<StandardSchemaV1 | undefined> = {}): Promise<any> {
    return this.#guarded(() => askCaller(this.#questionHost(), toMessageParts(question), options));
  }

  // As with `ask`.
  // biome-ignore lint/suspicious/noExplicitAny: an implementation behind overloads
  requireAuth(need: string | Part | readonly Part[] | AuthRequest, options: AuthOptions = {}): Promise<any> {
    return this.#guarded(() => {
      if (typeof need === "string" || !("message" in need))
        return requireAuth(this.#questionHost(), { ...options, explanation: toMessageParts(need), described: false });
      const { message, ...rest } = need;
      return requireAuth(this.#questionHost(), { ...rest, explanation: toMessageParts(message), described: true });
    });
  }

  next(options: { readonly wait: false; readonly name?: string }): Promise<Message | undefined>;
  next(options: { readonly signal: AbortSignal; readonly name?: string }): Promise<Message | undefined>;
  next(options?: { readonly wait?: true; readonly name?: string }): Promise<Message>;
  // The overloads say when the result may be `undefined`.
  // biome-ignore lint/suspicious/noExplicitAny: an implementation behind overloads
  next(options: NextOptions = {}): Promise<any> {
    return this.#guarded(() => nextMessage(this.#callHost(), options));
  }

  /** The agent's code has returned. `undefined`: all that it wrote is accepted; otherwise resolves then. */
  finish(): Promise<void> | undefined {
    const finished = this.#options.emitter.finish();
    return finished === RESOLVED ? undefined : finished;
  }

  /** The attempt has returned. Calls that it did not await can write nothing any more. */
  close(): void {
    this.#hasReturned = true;
  }

  reject(reason: string): never {
    throw new Rejection(reason);
  }

  flush(): Promise<void> {
    return this.#guarded(() => this.#options.writer.flush());
  }

  /** Found in every line that the task logs. */
  #ids(): object {
    const { trace } = this;
    const ids = { task: this.id, context: this.contextId, agent: this.#options.writer.ref.scope.agent };
    return trace === undefined ? ids : { ...ids, traceId: trace.traceId, spanId: trace.spanId };
  }

  #callHost(): CallHost {
    return { ...this.#options, memory: this.#memory(), requireOpen: () => this.#requireOpen() };
  }

  #questionHost(): QuestionHost {
    const { run } = this.#options;
    return { ...this.#callHost(), waits: run.waits(), questions: run.questions() };
  }

  #memory(): Memory {
    this.#remembered ??= this.#options.run.memory(this.#options.steps);
    return this.#remembered;
  }

  #results(): CallResults {
    const memory = this.#memory();
    const { emitter } = this.#options;
    return {
      // The key contains the step, because a replay does not repeat the calls of a step whose result is stored.
      key: (kind, name) => memory.key(kind, `${emitter.currentStep ?? ""}/${name}`),
      recall: (key) => {
        const known = memory.recall(key);
        return known?.kind === "done" ? known : undefined;
      },
      remember: (key, result) => memory.remember(key, { kind: "done", ...result }),
      record: (key, result) => memory.record(key, { kind: "done", ...result }),
    };
  }

  #requireOpen(): void {
    const closed = this.#options.run.closed();
    if (closed !== undefined) throw closed;
    if (this.#overBudget !== undefined) throw this.#overBudget;
    if (this.#hasReturned) throw new TaskAborted("lease-lost", "The run has returned; it can write nothing any more.");
  }

  /** Runs a call of the agent's code. A rejection that is not awaited is logged and does not end the process. */
  #guarded<T>(work: () => Promise<T>): Promise<T> {
    let pending: Promise<T>;
    try {
      this.#requireOpen();
      pending = work();
    } catch (error) {
      pending = Promise.reject(error);
    }
    if (pending === RESOLVED) return pending;
    pending.catch((error: unknown) =>
      this.#options.run.logger.debug("A call of the run failed", { ...this.#ids(), error }),
    );
    return pending;
  }
}
