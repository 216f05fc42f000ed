import type { Clock } from "../../internal/clock.ts";
import type { ArtifactId, TaskId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import type { StoreError, TaskCreate, TaskHead } from "../../store/contract.ts";
import { TaskAborted } from "../agent/agent.ts";
import type { EngineHooks, TaskRef } from "../api.ts";
import type { Limits } from "../limits.ts";
import type { LogView } from "../read/log-view.ts";
import type { RunnerRecord } from "../record/runner-record.ts";
import type { Committer } from "./committer.ts";

/** The state of a task when its writer is created. */
export interface WriterStart {
  readonly ref: TaskRef;
  readonly epoch: number;
  readonly seq: number;
  readonly head: TaskHead;
  readonly runner: RunnerRecord;
  /** The artifacts in the log. `isComplete`: the last chunk is marked as the last one. */
  readonly knownArtifacts: Iterable<readonly [id: ArtifactId, isComplete: boolean]>;
  readonly historyLength: number;
  /** By inbox entry: idempotent messages that were consumed before, with the seq of the last event before that. The writer adds to it. */
  readonly taken?: Map<string, number>;
  /** Present if the task is not in the store yet. */
  readonly create?: WriterCreate;
}

export interface WriterCreate {
  readonly record: TaskCreate;
  /** The task's first message, as stored. */
  readonly message: string;
  /** The caller receives the events as a stream, from the first on. */
  readonly streams: boolean;
}

/** What all writers of an engine use. */
export interface WriterDependencies {
  readonly committer: Committer;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly hooks: EngineHooks;
  /** Called after each commit that has events; readers can see them now. */
  readonly onCommitted: (task: TaskRef, views: readonly LogView[]) => void;
}

/** The user of a writer: a run. */
export interface WriterListener {
  /** A message or a cancel request arrived in the inbox. */
  inboxChanged(): void;
  /** The next commit stores the task and does not end it. Additions to the journal go with that commit. */
  storing(): void;
  /** The task was created in the store, and has not ended in the same commit. */
  stored(): void;
  /** The task, which waited for the caller, is `working` again, perhaps because of output; it may still have open questions. */
  resumed(): void;
  /** The writer can write nothing any more. */
  lost(loss: WriterLoss): void;
}

/** Why a writer can write nothing any more. `refused`: the store did not create the task. */
export type WriterLoss =
  | { readonly kind: "lease-lost" }
  | { readonly kind: "store-unavailable"; readonly error: StoreError }
  | { readonly kind: "refused"; readonly status: "duplicate" | "full" | "repeated" };

export interface EventOptions {
  /** For a later replay; `Note` in note.ts explains it. Readers do not see it. */
  readonly note?: string;
  /** The server's `transform` is not applied. */
  readonly isFinal?: boolean;
}

export interface StatusOptions extends EventOptions {
  /** Parts of the status message. Absent: no message. */
  readonly parts?: readonly Part[] | undefined;
  readonly metadata?: JsonObject;
  readonly messageMetadata?: JsonObject;
  /** Tasks that the status message refers to. */
  readonly referenceTaskIds?: readonly TaskId[];
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

/** The error for every further call of a writer with this loss. */
export function abortOf(loss: WriterLoss): TaskAborted {
  switch (loss.kind) {
    case "lease-lost":
      return new TaskAborted(
        "lease-lost",
        "This run no longer holds the lease of its task; it can write nothing any more.",
      );
    case "store-unavailable":
      return new TaskAborted("store-unavailable", `The store is unavailable: ${loss.error.message}`);
    case "refused":
      return new TaskAborted("lease-lost", `The store refused to create the task (${loss.status}).`);
  }
}
