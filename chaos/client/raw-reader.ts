import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { wireLine, wireTask } from "../event-line.ts";
import type { Write } from "../journal.ts";
import type { Call, Dialect } from "./dialects.ts";
import { post } from "./http.ts";
import { sseFrames } from "./sse.ts";

export interface RawReaderOptions {
  readonly url: string;
  readonly dialect: Dialect;
  readonly journal: Write;
  /** The task's name in the plan. */
  readonly task: string;
  readonly reader: string;
  readonly signal: AbortSignal;
  /**
   * Opens the first stream, whose first frame contains the task id. Absent: subscribes to the task below, from its
   * first event on.
   */
  readonly first?: Call;
  readonly taskId?: string;
  /** Milliseconds to wait after each frame. */
  readonly pause?: number;
  readonly onTask?: (taskId: string) => void;
  /** Called with every event, once. */
  readonly onLine?: (line: string) => void;
}

/** Milliseconds before a stream that ended is opened again. */
const PAUSE = 30;
const ENDED = /^status (?:completed|failed|canceled|rejected)/;

/**
 * Reads a task's stream to its end, resuming with `Last-Event-ID` like a browser, and writes every frame to the
 * journal.
 */
export async function readStream(options: RawReaderOptions): Promise<void> {
  const reading = new Reading(options);
  while (!reading.ended) {
    await reading.connect();
    options.signal.throwIfAborted();
    if (!reading.ended) await sleep(PAUSE, undefined, { signal: options.signal });
  }
  options.journal({ kind: "read-to-end", task: options.task, reader: options.reader });
}

class Reading {
  readonly #options: RawReaderOptions;
  #taskId: string | undefined;
  #seq: number | undefined;
  ended = false;

  constructor(options: RawReaderOptions) {
    this.#options = options;
    this.#taskId = options.taskId;
    if (options.taskId !== undefined) this.#seq = 0;
  }

  /** Reads one connection to its end. */
  async connect(): Promise<void> {
    const { url, dialect, first, signal } = this.#options;
    const call = this.#taskId === undefined ? first : dialect.subscribe(this.#taskId);
    if (call === undefined) throw new Error("A reader needs a task or a first call.");
    try {
      const response = await post(url, call, { signal, after: this.#seq });
      if (response.headers["content-type"] !== "text/event-stream") {
        this.#refused(response.statusCode ?? 0, await text(response));
        return;
      }
      for await (const { id, data } of sseFrames(response)) {
        this.#take(id, data);
        if (this.ended) break;
        if (this.#options.pause !== undefined) await sleep(this.#options.pause, undefined, { signal });
      }
      response.destroy();
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Error && "code" in error)) throw error;
    }
  }

  #take(id: number | undefined, data: string): void {
    const { dialect, journal, task, reader, onTask, onLine } = this.#options;
    const event = dialect.frame(data);
    // An error in the middle of a stream: the server could not continue. The reader reconnects.
    if (typeof event === "string") return;
    if (id === undefined) {
      journal({ kind: "failed", task, what: `${reader} received a frame without an id: ${data}` });
      return;
    }
    const line = wireLine(event);
    if (line !== undefined) {
      this.#seq = id;
      this.ended = ENDED.test(line);
      journal({ kind: "frame", reader, seq: id, line });
      onLine?.(line);
      return;
    }
    const whole = wireTask(event);
    if (whole === undefined)
      journal({ kind: "failed", task, what: `${reader} received neither event nor task: ${data}` });
    else if (this.#taskId === undefined) {
      this.#taskId = whole.id;
      onTask?.(whole.id);
    }
    // After resuming, the first frame is the task at the last event, which is already known.
    if (this.#seq !== undefined && id === this.#seq) return;
    this.#seq = id;
    journal({ kind: "snapshot", task, reader, seq: id });
  }

  #refused(status: number, body: string): void {
    const { dialect, journal, task, reader } = this.#options;
    const outcome = dialect.outcome(status, body);
    if (outcome.kind === "again") return;
    const what = outcome.kind === "refused" ? outcome.why : "a task instead of a stream";
    journal({ kind: "failed", task, what: `${reader} at event ${this.#seq ?? 0} received ${what}` });
    this.ended = true;
  }
}
