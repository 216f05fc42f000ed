import { readEvent } from "../protocol/serial.ts";
import type { TaskState } from "../protocol/state.ts";
import type { LogEntry } from "../store/contract.ts";
import type { EncodedTexts, ViewEntry } from "./api.ts";

/** Mostly one spelling is asked for; only more make it a map. */
class FewTexts implements EncodedTexts {
  #key: string | undefined;
  #text: string | undefined;
  #others: Map<string, string> | undefined;

  get(key: string): string | undefined {
    return key === this.#key ? this.#text : this.#others?.get(key);
  }

  set(key: string, text: string): void {
    if (this.#key === undefined || key === this.#key) {
      this.#key = key;
      this.#text = text;
      return;
    }
    this.#others ??= new Map();
    this.#others.set(key, text);
  }
}

/** A committed event as its readers share it. */
export class LogView implements ViewEntry {
  readonly seq: number;
  readonly body: string;
  readonly state?: TaskState;
  #encoded: EncodedTexts | undefined;

  constructor(seq: number, body: string, state: TaskState | undefined) {
    this.seq = seq;
    this.body = body;
    if (state !== undefined) this.state = state;
  }

  /** Made at first use: most events are read in one spelling, many in none. */
  get encoded(): EncodedTexts {
    this.#encoded ??= new FewTexts();
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
