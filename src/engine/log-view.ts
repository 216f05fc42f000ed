import { readEvent } from "../protocol/serial.ts";
import type { TaskState } from "../protocol/state.ts";
import type { LogEntry } from "../store/contract.ts";
import type { ViewEntry } from "./api.ts";

/** A committed event as its readers share it. */
export class LogView implements ViewEntry {
  readonly seq: number;
  readonly body: string;
  readonly state?: TaskState;
  #encoded: Map<string, string> | undefined;

  constructor(seq: number, body: string, state: TaskState | undefined) {
    this.seq = seq;
    this.body = body;
    if (state !== undefined) this.state = state;
  }

  /** Made at first use: most events are read in one spelling, many in none. */
  get encoded(): Map<string, string> {
    this.#encoded ??= new Map();
    return this.#encoded;
  }
}

/** An event read back from the store. */
export function viewOf(entry: LogEntry): LogView {
  return new LogView(entry.seq, entry.body, isStatusBody(entry.body) ? readStatusState(entry.body) : undefined);
}

/** Tells a status event by how its stored text begins, without parsing it. */
export function isStatusBody(body: string): boolean {
  return body.startsWith('{"status":');
}

function readStatusState(body: string): TaskState {
  const event = readEvent(body);
  if (event.kind !== "status") throw new Error("Stored event begins like a status and is none.");
  return event.status.state;
}
