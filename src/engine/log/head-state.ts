import { isTerminal, type TaskState } from "../../protocol/state.ts";
import type { TaskHead } from "../../store/contract.ts";
import { type RunnerRecord, writeLastRunner, writeRunner } from "../record/runner-record.ts";

/** The status of a task at one moment, to return to if the task's end is not committed. */
export interface Savepoint {
  readonly state: TaskState;
  /** The status as stored JSON. */
  readonly status: string;
  /** Milliseconds since 1970. */
  readonly statusAt: number;
}

/** A task's current status, metadata and runner record: the part of a task that the store overwrites with each commit. */
export class HeadState {
  state: TaskState;
  runner: RunnerRecord;
  /** A node must be running the task. */
  active: boolean;
  /** When to start the task again although nothing arrived; milliseconds since 1970. */
  wakeAt: number | undefined;
  /** The task's metadata as JSON text. */
  metadata: string | undefined;
  #status: string;
  #statusAt: number;

  constructor(head: TaskHead, runner: RunnerRecord) {
    this.state = head.state;
    this.runner = runner;
    this.active = head.active;
    this.wakeAt = head.wakeAt;
    this.metadata = head.metadata;
    this.#status = head.status;
    this.#statusAt = head.statusAt;
  }

  get ended(): boolean {
    return isTerminal(this.state);
  }

  setStatus({ state, status, statusAt }: Savepoint): void {
    this.state = state;
    this.#status = status;
    this.#statusAt = statusAt;
  }

  savepoint(): Savepoint {
    return { state: this.state, status: this.#status, statusAt: this.#statusAt };
  }

  /** The head for the store. `bytes`: size of the log. `before`: use this status instead of the current one; the task has not ended. */
  record(bytes: number, before?: Savepoint): TaskHead {
    const { state, status, statusAt } = before ?? this.savepoint();
    const isLast = before === undefined && this.ended;
    return {
      state,
      status,
      statusAt,
      ...(this.metadata !== undefined && { metadata: this.metadata }),
      runner: isLast ? writeLastRunner(this.runner, bytes) : writeRunner({ ...this.runner, bytes }),
      active: this.active || before !== undefined,
      ...(this.wakeAt !== undefined && { wakeAt: this.wakeAt }),
    };
  }
}
