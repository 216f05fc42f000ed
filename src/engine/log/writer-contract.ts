import type { Clock } from "../../internal/clock.ts";
import type { ArtifactId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import type { StoreError, TaskCreate, TaskHead } from "../../store/contract.ts";
import { TaskAborted } from "../agent/agent.ts";
import type { EngineHooks, TaskRef } from "../api.ts";
import type { Limits } from "../limits.ts";
import type { LogView } from "../read/log-view.ts";
import type { RunnerRecord } from "../record/runner-record.ts";
import type { Committer } from "./committer.ts";
import type { Note } from "./note.ts";

export interface WriterStart {
  readonly ref: TaskRef;
  readonly epoch: number;
  readonly seq: number;
  readonly head: TaskHead;
  readonly runner: RunnerRecord;
  /** The artifacts in the log, and whether the last chunk of each is marked as the last. */
  readonly knownArtifacts: Iterable<readonly [id: ArtifactId, isComplete: boolean]>;
  readonly historyLength: number;
  /** Messages that are to count once and were taken before, by inbox entry: the seq each follows. The writer adds to it. */
  readonly taken?: Map<string, number>;
  /** Present for a task that is not in the store yet. */
  readonly create?: WriterCreate;
}

export interface WriterCreate {
  readonly record: TaskCreate;
  /** The first message, as stored. */
  readonly message: string;
  /** Somebody follows its events from the first on. */
  readonly streams: boolean;
}

/** What all writers of an engine share. */
export interface WriterDependencies {
  readonly committer: Committer;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly hooks: EngineHooks;
  /** After a commit: the events are visible now. */
  readonly onCommitted: (task: TaskRef, views: readonly LogView[]) => void;
}

/** Who is at work with a writer. */
export interface WriterListener {
  /** Something arrived in the inbox. */
  inboxChanged(): void;
  /** The task itself has come into the store, and goes on. */
  stored(): void;
  /** The task has become `working`, perhaps by output, and may have open questions. */
  resumed(): void;
  /** Nothing can be written any more. */
  lost(loss: WriterLoss): void;
}

/** Why a writer can write no more. */
export type WriterLoss =
  | { readonly kind: "lease-lost" }
  | { readonly kind: "store-unavailable"; readonly error: StoreError }
  | { readonly kind: "refused"; readonly status: "duplicate" | "full" | "repeated" };

export interface EventOptions {
  /** For a later replay; see {@link Note}. Readers do not see it. */
  readonly note?: string;
  /** The server's `transform` is not applied. */
  readonly isFinal?: boolean;
}

export interface StatusOptions extends EventOptions {
  /** Parts of the status message. Absent: no message. */
  readonly parts?: readonly Part[];
  readonly metadata?: JsonObject;
  readonly messageMetadata?: JsonObject;
}

export interface EndOptions extends StatusOptions {
  /** The task ends only if its inbox is empty when the end is committed. */
  readonly unlessInbox: boolean;
}

/** A change of what the store keeps besides the log. Absent members stay as they are. */
export interface HeadChange {
  readonly runner?: Partial<RunnerRecord>;
  /** A node must be running the task. */
  readonly active?: boolean;
  /** When to start the task again although nothing arrived, in milliseconds since 1970; `undefined`: not at all. */
  readonly wakeAt?: number | undefined;
}

export function abortOf(loss: WriterLoss): TaskAborted {
  switch (loss.kind) {
    case "lease-lost":
      return new TaskAborted("lease-lost", "This run no longer holds the task; what it writes is refused.");
    case "store-unavailable":
      return new TaskAborted("store-unavailable", `The store took no writes: ${loss.error.message}`);
    case "refused":
      return new TaskAborted("lease-lost", `The store refused the task (${loss.status}).`);
  }
}
