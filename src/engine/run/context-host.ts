import type { Logger } from "../../internal/logger.ts";
import type { Artifact } from "../../protocol/artifact.ts";
import type { Message } from "../../protocol/message.ts";
import type { InboxEntry, StepRecord, Store } from "../../store/contract.ts";
import type { InputTimeout } from "../agent/agent.ts";
import type { CallEnvironment, ChildTasks } from "../call/child-tasks.ts";
import type { ContextStorage } from "../context/context-values.ts";
import type { TaskLogWriter } from "../log/task-log-writer.ts";
import type { NodeLease } from "../record/node-lease.ts";
import type { Emitter } from "./emitter.ts";
import type { Memory } from "./memory.ts";
import type { OpenQuestions } from "./questions/open-questions.ts";
import type { RunObserver } from "./run-observer.ts";
import type { Waits } from "./waits.ts";

/** The message that a run answers, and what was there when it arrived. */
export interface Turn {
  readonly message: Message;
  /** The data of the message, as the skill's schema validated it. */
  readonly data: unknown;
  readonly skillId: string | undefined;
  /** The messages up to this turn, then those that this attempt has consumed. */
  readonly history: Message[];
  /** By inbox entry: messages that earlier attempts of this turn have consumed. */
  readonly consumed: ReadonlyMap<string, Message>;
  /** The artifacts as they were before this turn. */
  readonly artifacts: readonly Artifact[];
}

/** The store, for calls that read other tasks of the context, or write its values. */
export interface RunStorage extends ContextStorage {
  readonly store: Store;
}

/** What an attempt uses of its run. */
export interface ContextHost {
  readonly signal: AbortSignal;
  readonly logger: Logger;
  readonly inputTimeout: InputTimeout | undefined;
  readonly serverId: string;
  readonly lease: NodeLease;
  readonly observer: RunObserver;
  readonly storage: RunStorage;
  /** The tasks that this one has called. `undefined`: agents of this engine cannot call agents. */
  readonly children: ChildTasks | undefined;
  readonly calls: CallEnvironment | undefined;
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back at this time. Returns a function that prevents it. */
  timer(at: number, work: () => void): () => void;
  waits(): Waits;
  questions(): OpenQuestions;
  memory(steps: readonly StepRecord[]): Memory;
  /** Reads an inbox entry, decrypting it if it is sealed. `undefined`: it is sealed with a secret that is not known any more. */
  openEntry(entry: InboxEntry): Message | undefined;
  /** Why nothing may be written any more; `undefined` while it may. */
  closed(): Error | undefined;
}

/** What an attempt works with. */
export interface ContextOptions {
  readonly run: ContextHost;
  readonly turn: Turn;
  /** Stored results of earlier attempts of this turn. */
  readonly steps: readonly StepRecord[];
  readonly writer: TaskLogWriter;
  readonly emitter: Emitter;
}

/** What the calls of the agent's code (`step`, `sleep`, `next` …) use of their attempt. */
export interface CallHost extends ContextOptions {
  readonly memory: Memory;
  /** Throws if the attempt may not write any more. Call it after every wait: another node may have claimed the task meanwhile. */
  readonly requireOpen: () => void;
}

/** What `ask` and `requireAuth` use of their attempt. */
export interface QuestionHost extends CallHost {
  readonly waits: Waits;
  readonly questions: OpenQuestions;
}
