import type { Engine } from "../engine/api.ts";
import type { JournalEntry } from "../engine/record/journal.ts";
import type { TaskState } from "../protocol/state.ts";
import type { TraceContext } from "../protocol/trace-context.ts";
import type { DeadLetter, DeadLetterRef, DeadLettersQuery, WebhookOverview } from "../push/contract.ts";
import type { Store } from "../store/contract.ts";
import type { Registry } from "../telemetry/metrics/registry.ts";

/** What the operations for operators work with. */
export interface OperatorParts {
  readonly store: Store;
  readonly engine: Pick<Engine, "subscribe" | "cancel" | "submit">;
  /** Absent: webhooks are not supported. */
  readonly push?: OperatorPush | undefined;
  /** Absent: metrics are turned off. */
  readonly registry?: Registry | undefined;
  readonly server: ServerFacts;
  /** What a task did, as the lines of a trace. */
  readonly traceRows: TraceRows;
}

/** A task as a trace reads it. Times are milliseconds since 1970. */
export interface TracedTask {
  readonly taskId: string;
  readonly contextId: string;
  readonly agent: string;
  readonly state: TaskState;
  readonly createdAt: number;
  readonly statusAt: number;
  readonly trace: TraceContext | undefined;
  readonly journal: readonly JournalEntry[];
}

/** Makes the lines of a trace of one task. */
export type TraceRows = (task: TracedTask) => { readonly traceId: string; readonly rows: readonly TraceRow[] };

/** One line of a trace. */
export interface TraceRow {
  readonly kind: JournalEntry["kind"];
  readonly label: string;
  readonly start: number;
  /** `undefined`: it has not ended. */
  readonly end: number | undefined;
  readonly outcome: string;
  /** 0 for attempts and deliveries, 1 for what an attempt does. */
  readonly depth: number;
  readonly span?: TracedSpan | undefined;
  /** Of a called task. */
  readonly taskId?: string;
}

export interface TracedSpan {
  readonly name: string;
  readonly context: { readonly spanId: string };
  readonly attributes: object;
}

export interface OperatorPush {
  readonly view: WebhookOverview;
  readonly deadLetters: {
    list(query?: DeadLettersQuery): Promise<readonly DeadLetter[]>;
    redeliver(letter: DeadLetterRef): Promise<void>;
  };
}

/** The server as operators see it. */
export interface ServerFacts {
  readonly version: string;
  /** The id of this process among those that share the store. */
  readonly node: string;
  /** ISO 8601. */
  readonly startedAt: string;
  readonly pid: number;
  readonly agents: readonly { readonly id: string; readonly name: string; readonly version: string }[];
  /** The present figures of this process. */
  readonly counts: () => Readonly<Record<string, number>>;
  /** The most that some of `counts` may reach in this process. */
  readonly limits: Readonly<Record<string, number>>;
}
