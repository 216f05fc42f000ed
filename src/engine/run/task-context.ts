import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Artifact } from "../../protocol/artifact.ts";
import { type CallPath, callPathEntry } from "../../protocol/call-path.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import type { Principal } from "../../protocol/principal.ts";
import { publicTaskId } from "../../protocol/task-key.ts";
import type { StepRecord } from "../../store/contract.ts";
import {
  type ArtifactOptions,
  type ArtifactWriter,
  type AskOptions,
  type AuthOptions,
  type AuthRequest,
  type Output,
  type ReceivedFile,
  type StepContext,
  TaskAborted,
  type TaskContext,
  type TaskLog,
} from "../agent/agent.ts";
import { filesOf, storableCopy, toMessageParts, toParts } from "../agent/output.ts";
import { Rejection } from "../agent/rejection.ts";
import { TaskFailure } from "../agent/task-failure.ts";
import { fingerprint } from "../log/fingerprint.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import { mergeMetadata, metadataChange } from "../log/task-metadata.ts";
import { callerOf } from "../record/runner-record.ts";
import { askCaller } from "./ask.ts";
import { RESOLVED } from "./call-order.ts";
import type { ContextHost, QuestionHost, Turn } from "./context-host.ts";
import type { ArtifactTarget, Emitter } from "./emitter.ts";
import type { Memory } from "./memory.ts";
import { requireAuth } from "./require-auth.ts";
import { TIMED_OUT } from "./waits.ts";

/** What an attempt works with. */
export interface ContextOptions {
  readonly run: ContextHost;
  readonly turn: Turn;
  /** Stored results of earlier attempts of this turn. */
  readonly steps: readonly StepRecord[];
  readonly writer: TaskLogWriter;
  readonly emitter: Emitter;
}

interface NextOptions {
  readonly wait?: boolean;
  readonly name?: string;
  readonly signal?: AbortSignal;
}

/** The name of the artifact that receives what a run yields or returns. */
export const RESULT = "result";
// Safe: as in `artifact`.
const RESULT_TARGET: ArtifactTarget = { id: RESULT as ArtifactId, name: RESULT };

/** The `task` argument of the agent's code, for one attempt of one turn. */
export class RunContext implements TaskContext<unknown> {
  readonly #options: ContextOptions;
  #remembered: Memory | undefined;
  #hasReturned = false;
  #setsOtherMetadata = false;

  constructor(options: ContextOptions) {
    this.#options = options;
  }

  get id(): string {
    return publicTaskId(this.#options.writer.ref.id);
  }
  get contextId(): string {
    return this.#options.writer.ref.contextId;
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
    const about = (details: object | undefined): object => ({ ...details, task: this.id });
    return {
      debug: (message, details) => logger.debug(message, about(details)),
      info: (message, details) => logger.info(message, about(details)),
      warn: (message, details) => logger.warn(message, about(details)),
      error: (message, details) => logger.error(message, about(details)),
    };
  }

  status(message?: string | Part | readonly Part[], metadata?: JsonObject): Promise<void> {
    return this.#guarded(() =>
      this.#options.emitter.status(message === undefined ? undefined : toMessageParts(message), metadata),
    );
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

  /** Writes a value that the run yields. */
  yielded(output: Output): Promise<void> {
    this.#requireOpen();
    return this.#options.emitter.write(RESULT_TARGET, toParts(output), false);
  }

  step<T>(name: string, work: (step: StepContext) => T | Promise<T>): Promise<T> {
    return this.#guarded(() => this.#step(name, work));
  }

  async #step<T>(name: string, work: (step: StepContext) => T | Promise<T>): Promise<T> {
    const { emitter, writer, run } = this.#options;
    const memory = this.#memory();
    const waits = run.waits();
    const key = memory.key("step", name);
    const known = memory.recall(key);
    if (known?.kind === "done") {
      await emitter.reachStep(key);
      // Safe: the same step returned this value in an earlier attempt.
      return known.value as T;
    }
    if (!writer.isStored) await writer.flush();
    waits.busy++;
    try {
      // The message identifies the turn. The seq does not: two turns have the same one if nothing was written in between.
      const stable = `${this.id}/${writer.runner.turnInbox ?? 0}/${key}`;
      const value = await emitter.runInStep(key, () =>
        work({ key: stable, attempt: this.attempt, signal: run.signal }),
      );
      const copy = jsonCopy(name, value);
      this.#requireOpen();
      memory.remember(key, copy === undefined ? { kind: "done" } : { kind: "done", value: copy });
      await writer.flush();
      // Safe: the copy is what JSON keeps of the value, as the documentation of `step` says.
      return copy as T;
    } finally {
      waits.busy--;
    }
  }

  sleep(milliseconds: number, options: { readonly name?: string } = {}): Promise<void> {
    return this.#guarded(() => this.#sleep(milliseconds, options));
  }

  async #sleep(milliseconds: number, options: { readonly name?: string }): Promise<void> {
    if (!(milliseconds >= 0))
      throw new TypeError(`sleep() needs a number of milliseconds from 0 on, not ${String(milliseconds)}.`);
    const { writer, run } = this.#options;
    const memory = this.#memory();
    const waits = run.waits();
    const key = memory.key("sleep", options.name ?? "");
    const known = memory.recall(key);
    const until = known?.kind === "asleep" ? known.until : run.now() + milliseconds;
    if (known === undefined) memory.remember(key, { kind: "asleep", until });
    if (until > run.now()) {
      waits.pause(until);
      await writer.flush();
      await waits.wait({ poll: () => undefined, until, pauses: true, parks: true });
      this.#requireOpen();
      waits.resume();
      return;
    }
    if (writer.runner.pausedAt !== undefined) waits.resume();
    await writer.flush();
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
    return this.#guarded(() => this.#next(options));
  }

  async #next({ wait, name = "", signal }: NextOptions): Promise<Message | undefined> {
    const { writer, turn, run } = this.#options;
    const memory = this.#memory();
    const key = memory.key("next", name);
    const known = memory.recall(key);
    const read = known?.kind === "message" ? memory.openMessage(known) : undefined;
    if (read !== undefined) {
      if (known?.kind === "message" && known.sealed !== true) turn.history.push(read);
      return read;
    }
    if (known?.kind === "nothing") return undefined;
    const poll = (): (typeof writer.inbox)[number] | undefined =>
      writer.inbox.find((entry) => entry.kind === "message" && !run.questions().isAnswer(entry));
    for (;;) {
      const entry = wait === false ? poll() : await run.waits().wait({ poll, signal, pauses: false, parks: false });
      this.#requireOpen();
      // Not stored: after an abort, a replay may wait again.
      if (entry === TIMED_OUT && signal !== undefined) return undefined;
      if (entry === undefined || entry === TIMED_OUT) {
        memory.remember(key, { kind: "nothing" });
        return undefined;
      }
      const message = run.openEntry(entry);
      writer.consume(entry, entry.sealed ? undefined : message);
      // Skip a message that cannot be decrypted any more.
      if (message === undefined) continue;
      memory.remember(key, memory.messageRecord(message, entry.sealed));
      if (!entry.sealed) turn.history.push(message);
      await writer.flush();
      return message;
    }
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

  #questionHost(): QuestionHost {
    const { writer, turn, run } = this.#options;
    return {
      writer,
      run,
      memory: this.#memory(),
      waits: run.waits(),
      questions: run.questions(),
      history: turn.history,
      consumed: turn.consumed,
      requireOpen: () => this.#requireOpen(),
    };
  }

  #memory(): Memory {
    this.#remembered ??= this.#options.run.memory(this.#options.steps);
    return this.#remembered;
  }

  #requireOpen(): void {
    const closed = this.#options.run.closed();
    if (closed !== undefined) throw closed;
    if (this.#hasReturned) throw new TaskAborted("lease-lost", "The run has returned; it can write nothing any more.");
  }

  /** Runs a call of the agent's code. If it rejects and nobody awaits it, that is logged and does not end the process. */
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
      this.#options.run.logger.debug("A call of the run failed", { task: this.id, error }),
    );
    return pending;
  }
}

function jsonCopy(name: string, value: unknown): JsonValue | undefined {
  try {
    return storableCopy(value);
  } catch (cause) {
    const reason = cause instanceof Error ? ` ${cause.message.replace(/^Output/, "The value")}` : "";
    throw new TaskFailure(`Step ${JSON.stringify(name)} returned a value that is not JSON.${reason}`, {
      code: "step-not-json",
      cause,
    });
  }
}
