// Answers of the operator API about one task, as docs/reference/operator-api.md describes them.
import type { JournalEntry, State, TaskRow, WireArtifact } from "./operator-types.ts";

/** One line of the list of events: a status, or the chunks of one artifact in a row. */
export interface LogRow {
  readonly kind: "status" | "artifact";
  readonly first: number;
  readonly last: number;
  readonly text: string;
  /** Of a status. */
  readonly state?: State;
  /** Of a status, in milliseconds since 1970; events of artifacts have none. */
  readonly at?: number;
  readonly artifactId?: string;
  readonly chunks?: number;
  readonly characters?: number;
}

/** A stretch of the log and how many characters artifacts got in it. */
export interface WrittenPiece {
  readonly first: number;
  readonly last: number;
  readonly characters: number;
}

/** An event whose time is known. */
export interface KnownTime {
  readonly seq: number;
  readonly at: number;
}

/** An artifact; of a long one, characters are missing. */
export interface CutArtifact extends WireArtifact {
  readonly omitted?: number;
}

/** The log of a task as a bounded number of items. */
export interface LogOutline {
  readonly lastSeq: number;
  readonly firstSeq: number;
  readonly ended: boolean;
  /** The last event that was read. Absent: all were. */
  readonly readTo?: number;
  readonly rowCount: number;
  /** Absent: there are too many, and they are read by seq. */
  readonly rows?: readonly LogRow[];
  /** The first events, each as a row of its own, if `rows` are too many. */
  readonly firstRows?: readonly LogRow[];
  readonly written: readonly WrittenPiece[];
  readonly times: readonly KnownTime[];
  readonly artifacts: readonly CutArtifact[];
}

export interface OutlineAnswer {
  readonly task: TaskRow;
  /** At most some hundred entries: neighbours are joined. */
  readonly journal: readonly JournalEntry[];
  /** Absent if it was not asked for. */
  readonly log?: LogOutline;
  /** The time of the server, ISO 8601. */
  readonly now: string;
}

export interface SnapshotAnswer {
  readonly seq: number;
  readonly state: State;
  readonly artifacts: readonly CutArtifact[];
}

/** A task and the tasks below it. Times are milliseconds since 1970. */
export interface TraceAnswer {
  readonly traceId: string;
  readonly tasks: readonly TracedTask[];
  readonly hasMore: boolean;
  readonly now: string;
}

export interface TracedTask {
  readonly key: string;
  readonly id: string;
  readonly agent: string;
  readonly state: State;
  readonly parent?: string;
  readonly createdAt: number;
  readonly statusAt: number;
  readonly rows: readonly TraceRow[];
}

export interface TraceRow {
  readonly kind: JournalEntry["kind"];
  readonly label: string;
  readonly start: number;
  readonly end?: number;
  readonly outcome: string;
  readonly depth: number;
  readonly index: number;
  /** Of a called task. */
  readonly taskId?: string;
  readonly span?: {
    readonly name: string;
    readonly id: string;
    readonly attributes: Readonly<Record<string, unknown>>;
  };
}
