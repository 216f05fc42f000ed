import type { Scope } from "../../../protocol/principal.ts";
import type {
  ContextWrite,
  HistoryEntry,
  InboxPost,
  JournalRecord,
  LeaseClaim,
  StepRecord,
  TaskCreate,
  WebhookDraft,
  WebhookOperation,
} from "../../contract.ts";

/**
 * Operations as they are sent to the writer thread: one flat list of texts and numbers, because copying nested objects between threads takes
 * many times longer. Flags earlier in the list tell which values follow.
 */
export type Packed = readonly PackedValue[];
export type PackedValue = string | number | null;

/** A head in the form of the file. */
export interface HeadCommand {
  readonly state: number;
  readonly statusAt: number;
  readonly active: number;
  readonly wakeAt: number | null;
  readonly status: string;
  readonly metadata: string | null;
  readonly runner: string;
}

export interface CreateCommand {
  readonly scope: Scope;
  readonly context: string;
  readonly shared: boolean;
  readonly dialect: string;
  readonly at: number;
  readonly node: string;
  readonly messageId: string | null;
  readonly idempotency: TaskCreate["idempotency"];
  readonly webhook: WebhookDraft | undefined;
  readonly parent: string | null;
  readonly root: string | null;
}

export interface EndCommand {
  /** The last line of the log, which ends the task; it may refer to the lines of the same write (`joinApart`). */
  readonly line: string;
  readonly head: HeadCommand;
  readonly artifacts: string | null;
  readonly unlessInbox: boolean;
  readonly history: readonly HistoryEntry[];
}

export interface WriteCommand {
  readonly kind: "write";
  readonly task: string;
  readonly epoch: number;
  /** The seq with which the stored log must end; `null`: any; -1 (never true): the entries are not consecutive. */
  readonly after: number | null;
  /** Number of lines without the one that ends the task. */
  readonly count: number;
  readonly lines: string;
  readonly release: boolean;
  readonly forgetSteps: boolean;
  readonly create: CreateCommand | undefined;
  readonly head: HeadCommand | undefined;
  readonly end: EndCommand | undefined;
  readonly history: readonly HistoryEntry[];
  readonly taken: readonly string[];
  readonly steps: readonly StepRecord[];
  readonly journal: readonly JournalRecord[];
}

export type Command = WriteCommand | InboxPost | LeaseClaim | ContextWrite | WebhookOperation;

/** Kinds of operations. */
export const WRITE = 0;
export const POST = 1;
export const CLAIM = 2;
export const WEBHOOK_SET = 3;
export const WEBHOOK_DELETE = 4;
export const WEBHOOK_CLAIM = 5;
export const WEBHOOK_ADVANCE = 6;
export const WEBHOOK_REVIVE = 7;
export const CONTEXT_WRITE = 8;

/** Flags of a write. */
export const RELEASE = 1;
export const FORGET = 2;
export const CREATE = 4;
export const HEAD = 8;
export const END = 16;
export const SHARED = 32;
export const UNLESS_INBOX = 64;
export const EXTRAS = 128;
export const IDEMPOTENT = 256;
export const WEBHOOK = 512;
export const JOURNAL = 1024;
export const RELATED = 2048;
