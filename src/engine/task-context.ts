import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Logger } from "../internal/logger.ts";
import type { Artifact } from "../protocol/artifact.ts";
import type { ArtifactId } from "../protocol/ids.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import { type Part, textOf } from "../protocol/part.ts";
import type { Principal } from "../protocol/principal.ts";
import type {
  ArtifactOptions,
  ArtifactWriter,
  AskOptions,
  InputTimeout,
  Output,
  ReceivedFile,
  StepContext,
  TaskContext,
  TaskLog,
} from "./agent.ts";
import { askCaller, type QuestionHost, requireAuth } from "./ask.ts";
import type { ArtifactTarget, Emitter } from "./emitter.ts";
import type { Memory } from "./memory.ts";
import { filesOf, toMessageParts, toParts } from "./output.ts";
import { Rejection } from "./rejection.ts";
import { callerOf } from "./runner-record.ts";
import { TaskFailure } from "./task-failure.ts";
import type { TaskWriter } from "./task-writer.ts";
import { TIMED_OUT, type Waits } from "./waits.ts";

/** The turn a run is at work on. */
export interface Turn {
  readonly message: Message;
  readonly data: unknown;
  readonly skillId: string | undefined;
  readonly history: Message[];
  readonly artifacts: readonly Artifact[];
}

export interface ContextOptions {
  readonly turn: Turn;
  readonly writer: TaskWriter;
  readonly emitter: Emitter;
  readonly memory: Memory;
  readonly waits: Waits;
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly inputTimeout: InputTimeout | undefined;
  readonly now: () => number;
  /** Opens an inbox entry, sealed or not. */
  readonly open: QuestionHost["open"];
  /** Why nothing may be written any more; `undefined` while it may. */
  readonly closed: () => Error | undefined;
}

/** The artifact that what a run yields or returns goes into. */
export const RESULT = "result";

/** The author's view of one attempt at one turn of one task. */
export class RunContext implements TaskContext<unknown> {
  readonly #options: ContextOptions;

  constructor(options: ContextOptions) {
    this.#options = options;
  }

  get id(): string {
    return this.#options.writer.ref.id;
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
  get skillId(): string | undefined {
    return this.#options.turn.skillId;
  }
  get attempt(): number {
    return this.#options.writer.runner.attempt;
  }
  get signal(): AbortSignal {
    return this.#options.signal;
  }
  get log(): TaskLog {
    const { logger } = this.#options;
    const about = (details: object | undefined): object => ({ ...details, task: this.id });
    return {
      debug: (message, details) => logger.debug(message, about(details)),
      info: (message, details) => logger.info(message, about(details)),
      warn: (message, details) => logger.warn(message, about(details)),
      error: (message, details) => logger.error(message, about(details)),
    };
  }

  status(message?: string | Part | readonly Part[], metadata?: JsonObject): Promise<void> {
    return this.#writing(() => this.#options.emitter.status(message === undefined ? undefined : toMessageParts(message), metadata));
  }

  artifact(name: string, options: ArtifactOptions = {}): ArtifactWriter {
    // Safe: an artifact is named by whoever writes it; the name itself keeps its id the same in every attempt.
    const target: ArtifactTarget = { ...options, id: name as ArtifactId, name };
    const { emitter } = this.#options;
    return {
      write: (output) => this.#writing(() => emitter.write(target, toParts(output), false)),
      end: (output) =>
        this.#writing(() => (output === undefined ? emitter.complete(target) : emitter.write(target, toParts(output), true))),
    };
  }

  /** What the run yields. */
  yielded(output: Output): Promise<void> {
    return this.artifact(RESULT).write(output);
  }

  async step<T>(name: string, work: (step: StepContext) => T | Promise<T>): Promise<T> {
    this.#check();
    const { memory, emitter, writer, waits, signal } = this.#options;
    const key = memory.key("step", name);
    const known = memory.recall(key);
    if (known?.kind === "done") {
      await emitter.passStep(key);
      // Safe: it is what this very step returned in an earlier attempt.
      return known.value as T;
    }
    if (!writer.isStored) await writer.flush();
    waits.busy++;
    try {
      const stable = `${this.id}/${writer.runner.turnAfter}/${key}`;
      const value = await emitter.within(key, () => work({ key: stable, attempt: this.attempt, signal }));
      const copy = jsonCopy(name, value);
      memory.remember(key, copy === undefined ? { kind: "done" } : { kind: "done", value: copy });
      await writer.flush();
      // Safe: the copy differs from what the step returned only as JSON differs, which the step's contract says.
      return copy as T;
    } finally {
      waits.busy--;
    }
  }

  async sleep(milliseconds: number, options: { readonly name?: string } = {}): Promise<void> {
    this.#check();
    if (!(milliseconds >= 0)) throw new TypeError(`sleep() needs milliseconds, not ${String(milliseconds)}.`);
    const { memory, writer, waits, now } = this.#options;
    const key = memory.key("sleep", options.name ?? "");
    const known = memory.recall(key);
    const until = known?.kind === "asleep" ? known.until : now() + milliseconds;
    if (known === undefined) memory.remember(key, { kind: "asleep", until });
    if (until > now()) {
      waits.pause(until);
      await writer.flush();
      await waits.wait({ poll: () => undefined, until, pauses: true, parks: true });
      waits.resume();
      return;
    }
    if (writer.runner.pausedAt !== undefined) waits.resume();
    await writer.flush();
  }

  // The overloads of TaskContext say what comes back; here it is whatever the schema made of it.
  // biome-ignore lint/suspicious/noExplicitAny: an implementation behind overloads
  async ask(question: string | Part | readonly Part[], options: AskOptions<StandardSchemaV1 | undefined> = {}): Promise<any> {
    this.#check();
    return askCaller(this.#questionHost(), toMessageParts(question), options);
  }

  async requireAuth(
    explanation: string | Part | readonly Part[],
    options: { readonly until?: (signal: AbortSignal) => Promise<unknown> } = {},
  ): Promise<Message | undefined> {
    this.#check();
    return requireAuth(this.#questionHost(), toMessageParts(explanation), options);
  }

  next(options: { readonly wait: false }): Promise<Message | undefined>;
  next(options?: { readonly wait?: true }): Promise<Message>;
  async next(options: { readonly wait?: boolean } = {}): Promise<Message | undefined> {
    this.#check();
    const { memory, writer, waits, turn, open } = this.#options;
    const key = memory.key("next", "");
    const known = memory.recall(key);
    if (known?.kind === "message") return memory.openMessage(known);
    if (known?.kind === "nothing") return undefined;
    const poll = (): (typeof writer.inbox)[number] | undefined => writer.inbox.find((entry) => entry.kind === "message");
    const entry = options.wait === false ? poll() : await waits.wait({ poll, pauses: false, parks: true });
    if (entry === undefined || entry === TIMED_OUT) {
      memory.remember(key, { kind: "nothing" });
      return undefined;
    }
    const message = open(entry);
    writer.take(entry, entry.sealed ? undefined : message);
    memory.remember(key, memory.messageRecord(message, entry.sealed));
    turn.history.push(message);
    await writer.flush();
    return message;
  }

  reject(reason: string): never {
    throw new Rejection(reason);
  }

  flush(): Promise<void> {
    return this.#writing(() => this.#options.writer.flush());
  }

  #questionHost(): QuestionHost {
    const { writer, memory, waits, signal, inputTimeout, turn, now, open } = this.#options;
    return { writer, memory, waits, signal, inputTimeout, history: turn.history, now, open };
  }

  #check(): void {
    const closed = this.#options.closed();
    if (closed !== undefined) throw closed;
  }

  /** A rejection that the author forgot to await is logged, and does not bring the process down. */
  #writing(work: () => Promise<void>): Promise<void> {
    let pending: Promise<void>;
    try {
      this.#check();
      pending = work();
    } catch (error) {
      pending = Promise.reject(error);
    }
    pending.catch((error: unknown) => this.#options.logger.debug("A write was refused", { task: this.id, error }));
    return pending;
  }
}

function jsonCopy(name: string, value: unknown): JsonValue | undefined {
  try {
    const text = JSON.stringify(value);
    return text === undefined ? undefined : JSON.parse(text);
  } catch (cause) {
    throw new TaskFailure(`Step ${JSON.stringify(name)} returned something that is not JSON.`, { code: "step-not-json", cause });
  }
}
