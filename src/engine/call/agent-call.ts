import { createDeferred, type Deferred } from "../../internal/deferred.ts";
import { ArtifactFold } from "../../protocol/fold.ts";
import { textOf } from "../../protocol/part.ts";
import type { AgentCall, CallEvent, CallResult } from "../agent/call-types.ts";

/** Events that wait to be read. Then the call reads no further. */
const MAX_WAITING = 256;

type Started = { readonly taskId: string | undefined; readonly contextId: string | undefined };

/** What the code that makes the call tells about it. */
export interface CallSink {
  accepted(at: Started): void;
  /** `undefined`: go on; otherwise wait until the reader has caught up. */
  event(event: CallEvent): Promise<void> | undefined;
}

/**
 * What `task.call` returns. The work begins in the next microtask, so that a `for await` in the same expression gets every event as it comes. A reader
 * that comes later gets first what it has missed, in few pieces.
 */
export class RunningCall implements AgentCall, CallSink {
  readonly [Symbol.toStringTag] = "AgentCall";
  readonly started: Promise<Started>;
  readonly #started = createDeferred<Started>({ handled: true });
  readonly #result: Promise<CallResult>;
  readonly #cancel: () => Promise<void>;
  /** What a reader that comes late has missed. */
  readonly #artifacts = new ArtifactFold();
  #last: CallEvent | undefined;
  #readers: Reader[] = [];
  #hasEnded = false;

  constructor(work: (sink: CallSink) => Promise<CallResult>, cancel: () => Promise<void>) {
    this.#cancel = cancel;
    this.started = this.#started.promise;
    this.#result = Promise.resolve().then(() => work(this));
    this.#result.then(
      () => this.#end(),
      (error: unknown) => this.#end(error),
    );
  }

  then<One = CallResult, Other = never>(
    fulfilled?: ((value: CallResult) => One | PromiseLike<One>) | null,
    rejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<One | Other> {
    return this.#result.then(fulfilled, rejected);
  }

  catch<Other = never>(
    rejected?: ((reason: unknown) => Other | PromiseLike<Other>) | null,
  ): Promise<CallResult | Other> {
    return this.#result.catch(rejected);
  }

  finally(done?: (() => void) | null): Promise<CallResult> {
    return this.#result.finally(done);
  }

  cancel(): Promise<void> {
    return this.#cancel();
  }

  [Symbol.asyncIterator](): AsyncIterator<CallEvent, void> {
    const reader = new Reader(() => {
      this.#readers = this.#readers.filter((other) => other !== reader);
    });
    for (const event of this.#soFar()) void reader.add(event);
    if (this.#hasEnded)
      void this.#result.then(
        () => reader.end(),
        (error: unknown) => reader.end({ error }),
      );
    else this.#readers.push(reader);
    return reader;
  }

  accepted(at: Started): void {
    this.#started.resolve(at);
  }

  event(event: CallEvent): Promise<void> | undefined {
    if (event.kind === "artifact") this.#artifacts.add(event);
    else this.#last = event;
    const full = this.#readers.flatMap((reader) => reader.add(event) ?? []);
    return full.length === 0 ? undefined : Promise.all(full).then(() => undefined);
  }

  /** The events so far, in few pieces. */
  *#soFar(): Generator<CallEvent, void> {
    const last = this.#last;
    const taskId = last?.kind === "status" ? last.taskId : "";
    for (const artifact of this.#artifacts.artifacts())
      yield { kind: "artifact", artifact, append: false, lastChunk: false, taskId, text: textOf(artifact.parts) };
    if (last !== undefined) yield last;
  }

  #end(error?: unknown): void {
    this.#hasEnded = true;
    if (error === undefined) this.#started.resolve({ taskId: undefined, contextId: undefined });
    else this.#started.reject(error);
    for (const reader of this.#readers) reader.end(error === undefined ? undefined : { error });
    this.#readers = [];
  }
}

/** One `for await` over a call. */
class Reader implements AsyncIterator<CallEvent, void> {
  readonly #waiting: CallEvent[] = [];
  readonly #onReturn: () => void;
  #next: Deferred<IteratorResult<CallEvent, void>> | undefined;
  #room: Deferred<void> | undefined;
  #end: { readonly error?: { readonly error: unknown } | undefined } | undefined;

  constructor(onReturn: () => void) {
    this.#onReturn = onReturn;
  }

  /** `undefined`: there is room for more. */
  add(event: CallEvent): Promise<void> | undefined {
    const next = this.#next;
    if (next !== undefined) {
      this.#next = undefined;
      next.resolve({ done: false, value: event });
      return undefined;
    }
    this.#waiting.push(event);
    if (this.#waiting.length < MAX_WAITING) return undefined;
    this.#room ??= createDeferred<void>();
    return this.#room.promise;
  }

  end(error?: { readonly error: unknown }): void {
    this.#end = { error };
    this.#release();
    if (this.#next === undefined) return;
    if (error === undefined) this.#next.resolve({ done: true, value: undefined });
    else this.#next.reject(error.error);
    this.#next = undefined;
  }

  next(): Promise<IteratorResult<CallEvent, void>> {
    const value = this.#waiting.shift();
    if (this.#waiting.length < MAX_WAITING / 2) this.#release();
    if (value !== undefined) return Promise.resolve({ done: false, value });
    if (this.#end !== undefined) {
      const { error } = this.#end;
      this.#end = {};
      return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error.error);
    }
    this.#next = createDeferred<IteratorResult<CallEvent, void>>();
    return this.#next.promise;
  }

  /** The loop was left early. The call goes on. */
  return(): Promise<IteratorResult<CallEvent, void>> {
    this.#onReturn();
    this.#waiting.length = 0;
    this.end();
    return Promise.resolve({ done: true, value: undefined });
  }

  #release(): void {
    this.#room?.resolve();
    this.#room = undefined;
  }
}
