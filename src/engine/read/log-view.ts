import { readEvent } from "../../protocol/serial.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { LogEntry } from "../../store/contract.ts";
import type { EncodedTexts, ViewEntry } from "../api.ts";

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

/** Who reads a task's events. */
export interface Readership {
  readonly readers: number;
}

export interface LogViewOptions {
  readonly state?: TaskState | undefined;
  /** For the store and a later replay; readers are not shown it. */
  readonly note?: string | undefined;
  readonly readership?: Readership;
}

/** An event on its way into the log, and, once committed, as its readers share it. */
export class LogView implements ViewEntry, LogEntry {
  readonly seq: number;
  readonly body: string;
  readonly state?: TaskState;
  readonly note?: string;
  readonly #readership: Readership | undefined;
  #encoded: EncodedTexts | undefined;

  constructor(seq: number, body: string, options: LogViewOptions = {}) {
    this.seq = seq;
    this.body = body;
    if (options.state !== undefined) this.state = options.state;
    if (options.note !== undefined) this.note = options.note;
    this.#readership = options.readership;
  }

  /** Kept only where several readers share it: for one alone it would be memory held for nothing. */
  get encoded(): EncodedTexts | undefined {
    if (this.#encoded === undefined && (this.#readership?.readers ?? 0) > 1) this.#encoded = new FewTexts();
    return this.#encoded;
  }
}

/** An event read back from the store. */
export function viewOf(entry: LogEntry): LogView {
  return new LogView(entry.seq, entry.body, isStatusBody(entry.body) ? { state: readStatusState(entry.body) } : {});
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
