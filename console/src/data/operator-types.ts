// The answers of the operator API, as docs/reference/operator-api.md describes them. Text in them comes from agents and callers.

/** The states of a task, in the order in which the console lists them. */
export const STATES = [
  "working",
  "submitted",
  "input-required",
  "auth-required",
  "completed",
  "failed",
  "canceled",
  "rejected",
] as const;

export type State = (typeof STATES)[number];

export interface ServerAnswer {
  readonly version: string;
  readonly node: string;
  readonly startedAt: string;
  readonly pid: number;
  readonly agents: readonly ServedAgent[];
  readonly counts: Readonly<Record<string, number>>;
  /** The most that some of the counts may reach. A limit without end is `null`. */
  readonly limits?: Readonly<Record<string, number | null>>;
  /** The name of who reads. */
  readonly you?: string;
}

export interface ServedAgent {
  readonly id: string;
  readonly name: string;
  readonly version: string;
}

export interface NodesAnswer {
  readonly node: string;
  readonly nodes: readonly ServerNode[];
  readonly tasks?: Readonly<Record<State, number>>;
  readonly parked?: number;
  readonly storeBytes?: number;
}

export interface ServerNode {
  readonly id: string;
  readonly isThisProcess: boolean;
  readonly tasks: number;
  readonly leaseUntil?: string;
}

/** A message or a status, as JSON of 1.0. */
export interface WireMessage {
  readonly messageId?: string;
  readonly role?: string;
  readonly parts?: readonly WirePart[];
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface WirePart {
  readonly text?: string;
  readonly raw?: string;
  readonly url?: string;
  readonly data?: unknown;
  readonly mediaType?: string;
  readonly filename?: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

export interface WireStatus {
  readonly state?: string;
  readonly message?: WireMessage;
  readonly timestamp?: string;
}

export interface TaskRow {
  readonly key: string;
  readonly id: string;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string;
  readonly contextId: string;
  readonly state: State;
  readonly status: WireStatus;
  readonly createdAt: string;
  readonly statusAt: string;
  readonly dialect: string;
  readonly parent?: string;
  readonly root?: string;
  readonly seq: number;
  readonly firstSeq: number;
  readonly epoch: number;
  readonly node?: string;
  readonly active: boolean;
  readonly wakeAt?: string;
  /** The first words of the first message; only if they were asked for. */
  readonly text?: string;
}

export interface TaskPage {
  readonly tasks: readonly TaskRow[];
  readonly next?: string;
}

/** Times are milliseconds since 1970. */
export interface JournalEntry {
  readonly kind: "attempt" | "step" | "question" | "wait" | "delivery" | "child";
  readonly key: string;
  readonly turn?: number;
  readonly attempt?: number;
  readonly node: string;
  readonly start: number;
  readonly end?: number;
  readonly outcome?: string;
  /** Of a call of an agent: its id or its URL, and the called task once it is known. */
  readonly called?: { readonly agent: string; readonly taskId?: string };
  /** Which model or tool a step has called. */
  readonly call?: { readonly kind: string; readonly name: string };
  readonly upTo?: number;
  readonly count?: number;
  readonly reason?: string;
}

export interface TaskAnswer {
  readonly task: TaskRow;
  readonly history: readonly { readonly after: number; readonly message: WireMessage }[];
  readonly historyOmitted?: boolean;
  readonly inbox: readonly { readonly id: string; readonly kind: string; readonly at: string }[];
  readonly journal: readonly JournalEntry[];
}

export interface WireArtifact {
  readonly artifactId: string;
  readonly name?: string;
  readonly description?: string;
  readonly parts?: readonly WirePart[];
}

export interface LogEvent {
  readonly seq: number;
  readonly event: {
    readonly status?: WireStatus;
    readonly artifact?: WireArtifact;
    readonly append?: boolean;
    readonly lastChunk?: boolean;
  };
}

export interface EventPage {
  readonly events: readonly LogEvent[];
  readonly lastSeq: number;
  readonly firstSeq: number;
  readonly ended: boolean;
}

export interface Webhook {
  readonly task: string;
  readonly taskId: string;
  readonly agent: string;
  readonly configId: string;
  readonly url: string;
  readonly dialect: string;
  readonly state: string;
  readonly deliveredSeq: number;
  readonly lastSeq: number;
  readonly attempts: number;
  readonly nextAt?: string;
  readonly node?: string;
}

export interface DeadLetter {
  readonly taskId: string;
  readonly agent: string;
  readonly tenant: string;
  readonly owner: string;
  readonly configId: string;
  readonly url: string;
  readonly outcome: string;
  readonly reason: string;
  readonly seq: number;
  readonly attempts: number;
  readonly failedAt: string;
}

export interface DeadLetters {
  readonly deadLetters: readonly DeadLetter[];
  readonly next?: string;
}

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: string;
  readonly limits?: readonly number[];
  readonly values: readonly MetricValue[];
}

export interface MetricValue {
  readonly labels: Readonly<Record<string, string>>;
  readonly value?: number;
  readonly counts?: readonly number[];
  readonly sum?: number;
  readonly count?: number;
}
