import { isoTime } from "../../internal/iso-time.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { readEvent, type StoredTask } from "../../protocol/serial.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { Store } from "../../store/contract.ts";
import { isStatusBody } from "./log-view.ts";
import { LogDropped, readLog } from "./read-log.ts";

/** The member of a task's metadata that lists every state it has been in, oldest first. */
const TRANSITIONS_KEY = "stateTransitions";

interface Transition {
  readonly state: TaskState;
  readonly timestamp: string;
}

/** The states a task had been in when its log had come this far. */
interface Passed {
  /** A task that is gone may have given its name to another one. */
  readonly createdAt: number;
  readonly seq: number;
  readonly transitions: readonly Transition[];
}

/** How many tasks are remembered, and with how many states each. */
const MAX_TASKS = 1000;
const MAX_STATES = 50;

/**
 * The states that tasks have been in. A log is read once; who asks for the same task again, as those do who wait for it, has only
 * what was added since read.
 */
export class Transitions {
  readonly #store: Store;
  /** The longest unasked first. */
  readonly #passed = new Map<TaskId, Passed>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The task with the states it has been in up to the seq it reflects. */
  async addedTo(task: StoredTask, key: TaskId): Promise<StoredTask> {
    const transitions = await this.#upTo(key, task);
    const rest = task.metadata === undefined ? "}" : task.metadata.slice(1);
    const separator = rest === "}" ? "" : ",";
    return { ...task, metadata: `{"${TRANSITIONS_KEY}":${JSON.stringify(transitions)}${separator}${rest}` };
  }

  async #upTo(key: TaskId, { seq, createdAt = 0 }: StoredTask): Promise<readonly Transition[]> {
    const passed = this.#passed.get(key);
    const known = passed?.createdAt === createdAt && passed.seq <= seq ? passed : undefined;
    const transitions = [...(known?.transitions ?? [{ state: "submitted" as const, timestamp: isoTime(createdAt) }])];
    try {
      for await (const { body } of readLog(this.#store, key, { after: known?.seq ?? 0, upTo: seq })) {
        const event = isStatusBody(body) ? readEvent(body) : undefined;
        if (event?.kind !== "status") continue;
        const { state, timestamp = "" } = event.status;
        if (transitions.at(-1)?.state !== state) transitions.push({ state, timestamp });
      }
    } catch (error) {
      // The events are gone for good: what is known must do.
      if (!(error instanceof LogDropped)) throw error;
    }
    this.#remember(key, { createdAt, seq, transitions });
    return transitions;
  }

  #remember(key: TaskId, passed: Passed): void {
    this.#passed.delete(key);
    if (passed.transitions.length > MAX_STATES) return;
    this.#passed.set(key, passed);
    const [oldest] = this.#passed.keys();
    if (this.#passed.size > MAX_TASKS && oldest !== undefined) this.#passed.delete(oldest);
  }
}
