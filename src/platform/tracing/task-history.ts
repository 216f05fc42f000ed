import type { JournalEntry } from "../../engine/record/journal.ts";
import { readEvent } from "../../protocol/serial.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { TraceContext } from "../../protocol/trace-context.ts";
import type { LogEntry } from "../../store/contract.ts";

/** Everything that is known about what a task did, and when. All times are milliseconds since 1970. */
export interface TaskHistory {
  /** As callers know it. */
  readonly taskId: string;
  readonly contextId: string;
  readonly agent: string;
  readonly state: TaskState;
  readonly createdAt: number;
  /** When the state last changed. */
  readonly statusAt: number;
  /** Where the call that created the task belongs in a trace. */
  readonly trace: TraceContext | undefined;
  readonly events: readonly RecordedEvent[];
  readonly journal: readonly JournalEntry[];
  readonly children: readonly ChildTask[];
}

/** An event of the log. */
export interface RecordedEvent {
  readonly seq: number;
  /** Artifact chunks have no time of their own: that of the status before. */
  readonly at: number;
  /** Absent for artifact chunks. */
  readonly state?: TaskState;
}

/** A task that this one created. */
export interface ChildTask extends Pick<TaskHistory, "taskId" | "agent" | "state" | "createdAt" | "statusAt"> {}

/** Where the history of tasks is read: the store of a server, or the operator API of a running one. */
export interface TaskSource {
  /** A task without its log. `undefined`: there is no such task. */
  task(key: string): Promise<Omit<TaskHistory, "events"> | undefined>;
  /** The next entries of its log whose seq is greater than `after`, oldest first. Empty: there are no more. */
  log(key: string, after: number): Promise<readonly LogEntry[]>;
  close(): Promise<void>;
}

/** Children that a history has at most. */
export const MAX_CHILDREN = 100;

/** Reads the history of a task; `undefined` if the source has no such task. */
export async function readTaskHistory(source: TaskSource, key: string): Promise<TaskHistory | undefined> {
  const task = await source.task(key);
  return task === undefined ? undefined : { ...task, events: await readEvents(source, key, task.createdAt) };
}

async function readEvents(source: TaskSource, key: string, createdAt: number): Promise<readonly RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  let at = createdAt;
  for (let after = 0; ; ) {
    const page = await source.log(key, after);
    for (const { seq, body } of page) {
      const event = readEvent(body);
      if (event.kind === "status") at = Date.parse(event.status.timestamp ?? "") || at;
      events.push({ seq, at, ...(event.kind === "status" && { state: event.status.state }) });
      after = seq;
    }
    if (page.length === 0) return events;
  }
}
