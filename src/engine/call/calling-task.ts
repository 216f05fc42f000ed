import type { Ancestry, Budget } from "../../protocol/calls/ancestry.ts";
import type { CalledTask, Counters } from "../../protocol/calls/call-tree.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { TaskStatus } from "../../protocol/task.ts";
import type { CallErrorCode } from "./call-error.ts";
import type { CallFacts } from "./call-guard.ts";
import type { Callees, CallOrigin, OpenChild } from "./callee.ts";

/** A question of a called agent, for the caller of the calling task. */
export interface ForwardedQuestion {
  /** Identifies the question in a replay. */
  readonly name: string;
  readonly kind: "input" | "auth";
  readonly parts: readonly Part[];
  readonly sensitive: boolean;
  /** Resolves when the called agent no longer needs an answer. */
  readonly until: (signal: AbortSignal) => Promise<void>;
}

/** The calling task, as one of its calls uses it. */
export interface CallingTask {
  /** The id that callers know. */
  readonly id: string;
  readonly contextId: string;
  /** The attempt of the turn. */
  readonly attempt: number;
  /** Aborts when the run must stop. */
  readonly signal: AbortSignal;
  readonly callees: Callees;
  readonly origin: CallOrigin;
  /** Milliseconds since 1970. */
  now(): number;
  /** Calls back at this time. Returns a function that prevents it. */
  timer(at: number, work: () => void): () => void;
  /** The stored value; `undefined`: there is none. */
  recall(key: string): JsonValue | undefined;
  /** Stores a value with the next commit. */
  remember(key: string, value: JsonValue): void;
  /** Resolves after the commit. */
  flush(): Promise<void>;
  /** Throws if the run may not write any more. */
  requireOpen(): void;
  /** Encrypts a value for `recall`, and back; `undefined`: it cannot be decrypted any more. */
  seal(value: JsonValue): string;
  unseal(sealed: string): JsonValue | undefined;
  /** Throws a `CallError` if the call is not allowed; else counts it. */
  admit(call: Pick<CallFacts, "label" | "entry">): void;
  /** Of the task that the call creates. */
  ancestry(budget: Budget | undefined): Ancestry;
  /** Adds a task to those that are canceled with this one, or changes it. */
  open(child: OpenChild): void;
  /** A called task has ended or goes its own way: it is not canceled any more. */
  close(key: string): void;
  /** Cancels a called task for good, and counts what it has used if it ends soon. */
  abandon(key: string): Promise<void>;
  /** Shows a called task in the metadata of this one. */
  show(key: string, child: CalledTask): void;
  /** Adds what a called task has used to the usage of this tree, once. */
  count(key: string, usage: Counters): void;
  /** A call has ended: `completed`, or the code of its error. */
  ended(label: string, outcome: "completed" | CallErrorCode): void;
  /** Sets the status message of this task. */
  status(parts: readonly Part[]): Promise<void>;
  /** Asks the caller of this task. `undefined`: the called agent no longer needs an answer. */
  forward(question: ForwardedQuestion): Promise<Message | undefined>;
}

/** Identifies a question of a called task. */
export function questionIdOf({ state, message, timestamp }: TaskStatus): string {
  return `${state} ${message?.messageId ?? timestamp ?? ""}`;
}
