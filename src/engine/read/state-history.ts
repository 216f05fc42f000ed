import { isoTime } from "../../internal/iso-time.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { readEvent, type StoredTask } from "../../protocol/serial.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { Store } from "../../store/contract.ts";
import { isStatusBody } from "./log-view.ts";
import { LogDropped, readLog } from "./read-log.ts";

/** The member of a task's metadata that lists all states the task has had, oldest first. */
const METADATA_KEY = "stateTransitions";

/** One state of a task, and when the task entered it. */
interface StateEntry {
  readonly state: TaskState;
  readonly timestamp: string;
}

/** All states that a task had up to `seq`. */
interface StateHistory {
  /** Tells two tasks apart that had the same id one after the other. */
  readonly createdAt: number;
  readonly seq: number;
  readonly states: readonly StateEntry[];
}

const MAX_CACHED_TASKS = 1000;
/** A longer history is not cached. */
const MAX_CACHED_STATES = 50;

/**
 * Reads the state history of tasks from their logs. Histories are cached: for a client that polls the same task, only the events since
 * its last request are read.
 */
export class StateHistories {
  readonly #store: Store;
  /** Least recently requested first. */
  readonly #cache = new Map<TaskId, StateHistory>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Returns the task with `stateTransitions` in its metadata: the states up to the task's `seq`. */
  async addedTo(task: StoredTask, key: TaskId): Promise<StoredTask> {
    const states = await this.#statesOf(key, task);
    const rest = task.metadata === undefined ? "}" : task.metadata.slice(1);
    const separator = rest === "}" ? "" : ",";
    return { ...task, metadata: `{"${METADATA_KEY}":${JSON.stringify(states)}${separator}${rest}` };
  }

  async #statesOf(key: TaskId, { seq, createdAt = 0 }: StoredTask): Promise<readonly StateEntry[]> {
    const cached = this.#cache.get(key);
    const known = cached?.createdAt === createdAt && cached.seq <= seq ? cached : undefined;
    const states = [...(known?.states ?? [{ state: "submitted" as const, timestamp: isoTime(createdAt) }])];
    try {
      for await (const { body } of readLog(this.#store, key, { after: known?.seq ?? 0, upTo: seq })) {
        const event = isStatusBody(body) ? readEvent(body) : undefined;
        if (event?.kind !== "status") continue;
        const { state, timestamp = "" } = event.status;
        if (states.at(-1)?.state !== state) states.push({ state, timestamp });
      }
    } catch (error) {
      // The log was dropped: return the states that are known.
      if (!(error instanceof LogDropped)) throw error;
    }
    this.#addToCache(key, { createdAt, seq, states });
    return states;
  }

  #addToCache(key: TaskId, history: StateHistory): void {
    this.#cache.delete(key);
    if (history.states.length > MAX_CACHED_STATES) return;
    this.#cache.set(key, history);
    const [oldest] = this.#cache.keys();
    if (this.#cache.size > MAX_CACHED_TASKS && oldest !== undefined) this.#cache.delete(oldest);
  }
}
