import type { ContextId, TaskId } from "../../protocol/ids.ts";
import type { Scope } from "../../protocol/principal.ts";
import type {
  ContextValue,
  HistoryEntry,
  InboxEntry,
  JournalRecord,
  LogEntry,
  StepRecord,
  TaskHead,
  WebhookRecord,
} from "../contract.ts";

/** A task without its parts, and without its lease: in the store that it is copied to, no node holds it. */
export interface StoredTask {
  readonly id: TaskId;
  readonly contextId: ContextId;
  readonly scope: Scope;
  readonly dialect: string;
  readonly createdAt: number;
  readonly messageId?: string;
  /** `TaskCreate.idempotency.digest`. */
  readonly digest?: string;
  readonly parent?: TaskId;
  readonly root?: TaskId;
  readonly head: TaskHead;
  readonly ended: boolean;
  readonly epoch: number;
  readonly seq: number;
  readonly firstSeq: number;
  /** Only if the store has them: otherwise they are computed from the log. */
  readonly artifacts?: string;
}

/** A webhook without its claim. Its next claim gets an epoch of the store that it is copied to. */
export type StoredWebhook = Omit<WebhookRecord, "task" | "epoch" | "node">;

/** One thing that a store contains. `n`: its position among those of the same kind and task, from 0. */
export type StoreRecord =
  | { readonly kind: "task"; readonly task: StoredTask }
  | { readonly kind: "log"; readonly task: TaskId; readonly entry: LogEntry }
  | { readonly kind: "message"; readonly task: TaskId; readonly n: number; readonly entry: HistoryEntry }
  | { readonly kind: "inbox"; readonly task: TaskId; readonly n: number; readonly entry: InboxEntry }
  | { readonly kind: "step"; readonly task: TaskId; readonly step: StepRecord }
  | { readonly kind: "journal"; readonly task: TaskId; readonly n: number; readonly record: JournalRecord }
  | { readonly kind: "webhook"; readonly task: TaskId; readonly n: number; readonly webhook: StoredWebhook }
  /** `changes`: how often the values of the context were changed. */
  | { readonly kind: "context"; readonly scope: Scope; readonly contextId: ContextId; readonly changes: number }
  | { readonly kind: "value"; readonly scope: Scope; readonly contextId: ContextId; readonly value: ContextValue };

/** The kinds of records, in the order of reports. */
export const RECORD_KINDS = [
  "task",
  "log",
  "message",
  "inbox",
  "step",
  "journal",
  "webhook",
  "context",
  "value",
] as const;
export type RecordKind = StoreRecord["kind"];

/** Secrets that belong to a store: see `OpenPostgresStore.sharedValue`. */
export const SECRET_NAMES = ["secret", "signing-keys"] as const;
export type SecretName = (typeof SECRET_NAMES)[number];

/** A store that nobody else uses while it is read. */
export interface StoreSource {
  countTasks(): Promise<number>;
  /**
   * Everything in the store, in batches of bounded size: the tasks in the order of their creation, each before its parts, then the contexts. The
   * entries of a log, and the records with an `n`, are in order.
   */
  records(): AsyncIterable<readonly StoreRecord[]>;
  /** `undefined`: the store has none with this name. */
  secret(name: SecretName): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

/** An empty store that is filled in one transaction. Nobody else sees anything before `commit`. */
export interface StoreTarget {
  /** Records in the order of {@link StoreSource.records}. */
  add(records: readonly StoreRecord[]): Promise<void>;
  /** What was added, read back. */
  records(): AsyncIterable<readonly StoreRecord[]>;
  setSecret(name: SecretName, value: Uint8Array): Promise<void>;
  commit(): Promise<void>;
  /** Discards everything that was not committed, and closes the store. May be called twice. */
  close(): Promise<void>;
}
