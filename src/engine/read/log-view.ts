import { readEvent } from "../../protocol/serial.ts";
import type { TaskState } from "../../protocol/state.ts";
import type { LogEntry } from "../../store/contract.ts";
import type { EncodedTexts, ViewEntry } from "../api.ts";

/** Usually an event is encoded for one protocol version only; a map is created for the second one. */
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

/** How many subscriptions read the events of a task. */
export interface Readership {
  readonly readers: number;
}

export interface LogViewOptions {
  readonly state?: TaskState | undefined;
  /** For a later replay; readers do not see it. */
  readonly note?: string | undefined;
  readonly readership?: Readership;
}

/** An event, as the store receives it and as all its readers share it. */
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

  /** Present only if several subscriptions read the task: for a single one, caching the text would waste memory. */
  get encoded(): EncodedTexts | undefined {
    if (this.#encoded === undefined && (this.#readership?.readers ?? 0) > 1) this.#encoded = new FewTexts();
    return this.#encoded;
  }
}

/** An event read back from the store. `readership`: the subscriptions that share it; absent: it has one reader. */
export function viewOf({ seq, body }: LogEntry, readership?: Readership): LogView {
  return new LogView(seq, body, {
    ...(isStatusBody(body) && { state: readStatusState(body) }),
    ...(readership !== undefined && { readership }),
  });
}

/** Whether a stored event is a status, without parsing it. */
export function isStatusBody(body: string): boolean {
  return body.startsWith('{"status":');
}

function readStatusState(body: string): TaskState {
  const event = readEvent(body);
  if (event.kind !== "status") throw new Error("A stored event begins like a status but is not one.");
  return event.status.state;
}
