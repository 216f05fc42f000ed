import { isTerminal } from "../../protocol/state.ts";
import type { RemoteEvent } from "../../wire/client/client-codec.ts";
import type { AgentHost } from "../agent-host.ts";
import type { RemoteStreamEvent } from "../api.ts";
import type { Frame, FrameStream, Opened } from "../http/channel.ts";
import { toRemoteError } from "../http/errors.ts";
import { Turns } from "../http/turns.ts";
import type { Done, Ending } from "./follow-state.ts";
import type { FollowedTask } from "./followed-task.ts";
import { confirmsCursor, type StreamStart, skipsEvents } from "./frame-position.ts";
import { readFinalTask } from "./read-final-task.ts";
import { isTransient } from "./refusals.ts";
import { isSameStatus } from "./task-view.ts";

/** Whose connections are read. */
export interface ConnectionReaderOptions {
  readonly host: AgentHost;
  readonly followed: FollowedTask;
  readonly signal: AbortSignal;
}

type Events = AsyncGenerator<RemoteStreamEvent, void>;

type TaskFrame = Exclude<RemoteEvent, { kind: "message" }>;

const DONE: Done = { name: "done" };

/** Reads the connections of one task, one after the other, and yields the events that are new. */
export class ConnectionReader {
  readonly #host: AgentHost;
  readonly #followed: FollowedTask;
  readonly #signal: AbortSignal;
  readonly #turns: Turns;
  /** A connection continued without confirming the cursor: events may be missing or repeated. */
  #isInexact = false;

  constructor({ host, followed, signal }: ConnectionReaderOptions) {
    this.#host = host;
    this.#followed = followed;
    this.#signal = signal;
    this.#turns = new Turns(signal);
  }

  /**
   * Opens and reads one connection. An error before the first frame, and a transient one later, is part of the ending. Other errors that the
   * agent reports are thrown.
   */
  async *read(open: () => Promise<Opened>, start: StreamStart): AsyncGenerator<RemoteStreamEvent, Ending> {
    let opened: Opened;
    try {
      opened = await open();
    } catch (thrown) {
      if (this.#signal.aborted) throw thrown;
      return { name: "broken", received: false, progressed: false, error: toRemoteError(thrown) };
    }
    if (opened.kind === "stream") {
      try {
        return yield* this.#readStream(opened.stream, start);
      } finally {
        opened.stream.close();
      }
    }
    const events = this.#followed.resultEvents(opened.result);
    yield* this.paced(events);
    if (opened.result.kind === "replied" || this.#followed.isSettled()) return DONE;
    return { name: "closed", received: true, progressed: events.length > 0 };
  }

  /** Yields events that are all known at once, possibly thousands, without blocking the event loop. */
  async *paced(events: readonly RemoteStreamEvent[]): Events {
    for (const event of events) {
      const turn = this.#turns.step();
      if (turn !== undefined) await turn;
      yield event;
    }
  }

  /**
   * A resumed stream is exact if its first frame confirms the cursor. Otherwise events may be missing or repeated, and everything is
   * compared with the view before it is passed on.
   */
  async *#readStream(stream: FrameStream, start: StreamStart): AsyncGenerator<RemoteStreamEvent, Ending> {
    const followed = this.#followed;
    let received = false;
    let progressed = false;
    let isExact = start.isResumed !== true;
    for (;;) {
      let frame: Frame | undefined;
      try {
        frame = await stream.next();
      } catch (thrown) {
        const error = toRemoteError(thrown);
        if (this.#signal.aborted || (received && error.code !== "network" && !isTransient(error))) throw error;
        return { name: "broken", received, progressed, error, retry: stream.retry };
      }
      if (frame === undefined) {
        if (followed.endsWithQuestion(stream)) return DONE;
        return { name: "closed", received, progressed, retry: stream.retry };
      }
      if (!isExact && !received && confirmsCursor(frame, start.cursor)) {
        isExact = true;
        received = true;
        continue;
      }
      if (!received && skipsEvents(frame, start.since)) {
        return { name: "broken", received: true, progressed: true, retry: stream.retry };
      }
      if (!isExact) this.#isInexact = true;
      const isFirst = !received;
      received = true;
      if (frame.id !== undefined) followed.cursor = frame.id;
      const { event } = frame;
      if (event.kind === "message") {
        yield { kind: "message", message: event.message };
        return DONE;
      }
      const isFirstOfReply = isFirst && start.isReply === true;
      for await (const change of this.#newEvents(event, {
        isFirst,
        mayRepeatStatus: this.#isInexact || isFirstOfReply,
      })) {
        progressed = true;
        yield change;
      }
      if (isFirstOfReply) followed.guessAnswered();
      // A question need not end the stream of a sent message (0.3: `final: false`). A subscription continues in any case.
      const goesOn = start.isReply !== undefined && event.kind === "status" && event.moreFollows === true;
      if (followed.isSettled() && !goesOn) return DONE;
      if (event.kind !== "task" && event.final) {
        return followed.endsWithQuestion(stream) ? DONE : { name: "closed", received, progressed };
      }
    }
  }

  /** The events of a frame that are not known yet. */
  async *#newEvents(event: TaskFrame, { isFirst, mayRepeatStatus }: FrameRole): Events {
    const { view } = this.#followed;
    const about = event.kind === "task" ? event.task.id : event.taskId;
    const isOtherTask = about !== "" && view.id !== undefined && view.id !== "" && about !== view.id;
    // A message may lead to another task, which the first frame names. Later frames about other tasks are ignored.
    if (isOtherTask && !isFirst && !this.#isMisnamedEnd(event)) return;
    if (event.kind === "task") {
      yield* this.paced(view.catchUp(event.task));
      return;
    }
    const { taskId, contextId, final: _final, moreFollows: _moreFollows, generation, ...change } = event;
    if (change.kind === "status" && mayRepeatStatus) {
      if (this.#isInexact && isTerminal(change.status.state)) yield* this.#missedBeforeEnd();
      if (view.status !== undefined && isSameStatus(view.status, change.status)) return;
      if (view.status !== undefined && isTerminal(view.status.state)) return;
    }
    yield view.add(change, { taskId, contextId }, generation);
  }

  /** Some servers end the stream of a failed task with a made-up task id. Only the context shows that the end belongs to this task. */
  #isMisnamedEnd(event: TaskFrame): boolean {
    if (event.kind !== "status" || !event.final || !isTerminal(event.status.state)) return false;
    return event.contextId !== "" && event.contextId === this.#followed.view.contextId;
  }

  /** The events that an inexact stream missed, found by comparing the finished task with the view. */
  async *#missedBeforeEnd(): Events {
    const { view } = this.#followed;
    if (view.id === undefined || view.id === "") return;
    const task = await readFinalTask(this.#host, view.id, this.#signal);
    if (task !== undefined) yield* this.paced(view.catchUp(task));
  }
}

interface FrameRole {
  /** The first frame of its connection. */
  readonly isFirst: boolean;
  /** The frame's status may be known already. */
  readonly mayRepeatStatus: boolean;
}
