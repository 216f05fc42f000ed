import type { TaskId } from "../../protocol/ids.ts";
import type { SendRequest } from "../../protocol/operation.ts";
import { isInterrupted, isTerminal, type TaskState } from "../../protocol/state.ts";
import type { Task, TaskStatus } from "../../protocol/task.ts";
import type { RemoteEvent, RemoteResult } from "../../wire/client/client-codec.ts";
import type { AgentHost } from "../agent-host.ts";
import type { RemoteStreamEvent } from "../api.ts";
import { pause } from "../http/abort.ts";
import { backOff, delayAfter, mayRepeat } from "../http/back-off.ts";
import type { Frame, FrameStream, Opened } from "../http/channel.ts";
import { RemoteError, toRemoteError } from "../http/errors.ts";
import { Turns } from "../http/turns.ts";
import { endsFollowing, isPassing, isRefusalOfStreams } from "./refusals.ts";
import { isSameStatus, type TaskView } from "./task-view.ts";

export interface FollowOptions {
  readonly host: AgentHost;
  readonly view: TaskView;
  readonly signal: AbortSignal;
  /** Whether to leave a task in this state; terminal states always end it. */
  readonly stopsAt: (state: TaskState) => boolean;
  /** The question that was answered before this began: to see it again is no news. */
  readonly answered?: TaskStatus | undefined;
  /** The id of the last event that the view has, where the server gives ids. */
  readonly cursor?: string | undefined;
}

/** How one connection ended. */
type Ending =
  | { readonly kind: "done" }
  | {
      /** The server ended it, or it broke. */
      readonly kind: "closed" | "broken";
      /** Anything came at all. */
      readonly received: boolean;
      /** Something came that was not known yet. */
      readonly progressed: boolean;
      readonly retry?: number | undefined;
      readonly error?: RemoteError;
    };

/** Milliseconds after which a connection counts as one that worked, whatever it brought. */
const LONG_LIFE = 10_000;

/** How often in a row a task that is over, but not where it is kept, is looked at without anything new. */
const MAX_VAIN_LOOKS = 3;

const DONE: Ending = { kind: "done" };
/** There was no connection before. */
const NOT_YET: Ending = { kind: "broken", received: false, progressed: true };

type Events = AsyncGenerator<RemoteStreamEvent, void>;

/**
 * Follows one task through as many connections as it takes. Where the server goes on exactly behind the last event (its first
 * frame then has the id that was asked for), nothing is lost or doubled. Elsewhere the current task is compared with what is
 * known, and what must have happened is told; then the task's end is checked against the task itself.
 */
export class TaskFollower {
  readonly #options: FollowOptions;
  readonly #view: TaskView;
  readonly #signal: AbortSignal;
  readonly #turns: Turns;
  #answered: TaskStatus | undefined;
  /** The question in the first frame of a reply's stream was taken for the one answered; it may be a new one. */
  #answeredIsGuess = false;
  #cursor: string | undefined;
  /** A connection went on without saying exactly where: events may be missing, or here twice. */
  #inexact = false;

  constructor(options: FollowOptions) {
    this.#options = options;
    this.#view = options.view;
    this.#signal = options.signal;
    this.#turns = new Turns(options.signal);
    this.#answered = options.answered;
    this.#cursor = options.cursor;
  }

  /** The id of the last event, where the server gives ids. */
  get cursor(): string | undefined {
    return this.#cursor;
  }

  /** Sends a message and follows what comes of it. */
  async *send(request: SendRequest): Events {
    const { host } = this.#options;
    if (!host.streams) {
      yield* this.#sendAndLook(request);
      return;
    }
    const { settings, channel } = host;
    const call = channel.prepare({ ...request, operation: "stream" });
    const isReply = request.message.taskId !== undefined;
    const known = this.#cursor;
    const errors: RemoteError[] = [];
    const firstAt = settings.clock.now();
    for (let failures = 1; ; failures++) {
      // The answer to a reply begins with the task as it is now. What happened since the last known event is read from there.
      const since = failures > 1 || host.takesMessagesOnce ? known : undefined;
      const arrival: Arrival = { isReply, since };
      const ending = yield* this.#attempt(() => channel.open(call, { signal: this.#signal }), arrival);
      if (ending.kind === "done") return;
      if (ending.received) {
        yield* this.#goOn(ending);
        return;
      }
      const error = ending.error ?? new RemoteError("network", "The agent ended the stream without a word.");
      if (isRefusalOfStreams(error, request)) {
        yield* this.#sendAndLook(request);
        // It took the message that way: it is streams that it does not have.
        host.streams = false;
        return;
      }
      if (error.code === "unsupported-operation" && (yield* this.#wasTaken(request))) return;
      errors.push(error);
      const delay = mayRepeat(error, host.mayResend(firstAt)) ? delayAfter(settings, error, failures) : undefined;
      if (delay === undefined || failures >= settings.retry.attempts)
        throw host.unknownOutcome(error, request.message, errors);
      await pause(settings.clock, delay, this.#signal);
    }
  }

  /**
   * Some servers start to work on a reply and then find that they cannot stream what comes of it. Where the task no longer asks
   * what was answered, it has the answer, and is followed.
   */
  async *#wasTaken({ message: { taskId } }: SendRequest): AsyncGenerator<RemoteStreamEvent, boolean> {
    const before = this.#answered;
    if (taskId === undefined || before === undefined) return false;
    const task = await this.#options.host.get(taskId, this.#signal);
    if (isSameStatus(before, task.status)) return false;
    // A server that numbers its events gives those since the question, one by one.
    if (this.#cursor === undefined) yield* this.#burst(this.#polled(task));
    if (!this.#isSettled()) yield* this.subscribe(taskId);
    return true;
  }

  /** Follows a task that is there. */
  async *subscribe(id: TaskId): Events {
    if (this.#options.host.streams) yield* this.#goOn(NOT_YET, id);
    else yield* this.#look(id);
  }

  /** Comes back after every connection, until the task needs no more following. */
  async *#goOn(first: Ending, known?: TaskId): Events {
    const { settings } = this.#options.host;
    let failures = 0;
    let toldBefore: RemoteError | undefined;
    for (let ending = first; ending.kind !== "done"; ) {
      const id = this.#view.id || known;
      // A server that fails and begins anew brings the same news for ever: that it says so itself counts, whatever it told before.
      const hasFailed = ending.error !== undefined && isPassing(ending.error);
      if (hasFailed && ending.received) toldBefore = ending.error;
      else if (ending.progressed) toldBefore = undefined;
      failures = ending.progressed && !hasFailed ? 0 : failures + 1;
      if (failures >= settings.retry.reconnects || id === undefined) throw lost(ending.error, id);
      if (ending.kind === "closed" && failures > this.#closesAccepted()) {
        // It says how the task is and ends: that can be had for less.
        yield* this.#look(id);
        return;
      }
      if (ending !== NOT_YET) await this.#waitBefore(ending, failures);
      const cursor = this.#cursor;
      const arrival: Arrival = { cursor, isResumed: this.#view.status !== undefined };
      const openedAt = settings.clock.now();
      ending = yield* this.#attempt(() => this.#open(id, cursor), arrival);
      // A task that is quiet for long outlives connections that are not: those have done their work.
      if (settings.clock.now() - openedAt >= LONG_LIFE && ending.kind !== "done" && ending.received) failures = 0;
      if (ending.kind === "done" || ending.received || ending.error === undefined) continue;
      const { error } = ending;
      if (error.code === "invalid-params" && cursor !== undefined) {
        // Not a cursor after all, or one of a log that is gone.
        this.#cursor = undefined;
      } else if (endsFollowing(error)) {
        yield* this.#lookAfter(toldBefore, id);
        return;
      } else if (!mayRepeat(error, true)) throw refusedAfter(toldBefore, error);
    }
  }

  /**
   * How often in a row a server may end a stream that brought nothing before the task is polled instead. A server that numbers its events
   * can resume them exactly, and may only be restarting; polling would put its events together.
   */
  #closesAccepted(): number {
    return this.#cursor === undefined ? 1 : Math.max(1, this.#options.host.settings.retry.reconnects - 2);
  }

  async #waitBefore({ kind, retry = 0, error }: Exclude<Ending, { kind: "done" }>, failures: number): Promise<void> {
    const { settings } = this.#options.host;
    const { retry: limits, random } = settings;
    const asked = Math.min(retry * (1 + random() / 4), limits.maxDelay);
    // A connection that broke after it brought something is made again almost at once; one that the server ended is not.
    const soon = kind === "broken" ? (random() * limits.baseDelay) / 10 : backOff(settings, 1);
    const later = error === undefined ? backOff(settings, failures) : delayAfter(settings, error, failures);
    if (failures > 0 && later === undefined) throw lost(error, this.#view.id);
    await pause(settings.clock, Math.max(asked, failures === 0 ? soon : (later ?? 0)), this.#signal);
  }

  async #open(id: TaskId, cursor: string | undefined): Promise<Opened> {
    const { host } = this.#options;
    const { channel, tenant } = host;
    const context = { signal: this.#signal, cursor };
    const usual = channel.prepare({ operation: "subscribe", tenant, id });
    const other = channel.otherVerb(usual);
    if (other === undefined) return channel.open(usual, context);
    if (host.subscribesByOtherVerb !== undefined) {
      return channel.open(host.subscribesByOtherVerb ? other : usual, context);
    }
    try {
      return await channel.open(usual, context);
    } catch (thrown) {
      const { httpStatus } = toRemoteError(thrown).remote;
      if (httpStatus !== 404 && httpStatus !== 405) throw thrown;
      const opened = await channel.open(other, context);
      host.subscribesByOtherVerb = true;
      return opened;
    }
  }

  /** One connection. What is thrown before it brought anything is in how it ended; what the agent tells later is thrown. */
  async *#attempt(open: () => Promise<Opened>, arrival: Arrival): AsyncGenerator<RemoteStreamEvent, Ending> {
    let opened: Opened;
    try {
      opened = await open();
    } catch (thrown) {
      if (this.#signal.aborted) throw thrown;
      return { kind: "broken", received: false, progressed: false, error: toRemoteError(thrown) };
    }
    if (opened.kind === "stream") {
      try {
        return yield* this.#read(opened.stream, arrival);
      } finally {
        opened.stream.close();
      }
    }
    const events = this.#resultEvents(opened.result);
    yield* this.#burst(events);
    if (opened.result.kind === "replied" || this.#isSettled()) return DONE;
    return { kind: "closed", received: true, progressed: events.length > 0 };
  }

  /** The events by which a whole task differs: there may be thousands. */
  async *#burst(events: readonly RemoteStreamEvent[]): Events {
    for (const event of events) {
      const pause = this.#turns.step();
      if (pause !== undefined) await pause;
      yield event;
    }
  }

  #resultEvents(result: RemoteResult): readonly RemoteStreamEvent[] {
    if (result.kind === "replied") return [{ kind: "message", message: result.message }];
    if (result.kind === "sent" || result.kind === "task") return this.#view.catchUp(result.task);
    throw new RemoteError("invalid-agent-response", "The agent answered with neither a task nor a message.");
  }

  async *#read(stream: FrameStream, arrival: Arrival): AsyncGenerator<RemoteStreamEvent, Ending> {
    let received = false;
    let progressed = false;
    let isExact = arrival.isResumed !== true;
    for (;;) {
      let frame: Frame | undefined;
      try {
        frame = await stream.next();
      } catch (thrown) {
        const error = toRemoteError(thrown);
        if (this.#signal.aborted || (received && error.code !== "network" && !isPassing(error))) throw error;
        return { kind: "broken", received, progressed, error, retry: stream.retry };
      }
      if (frame === undefined) {
        if (this.#isLeftAsking(stream)) return DONE;
        return { kind: "closed", received, progressed, retry: stream.retry };
      }
      if (!isExact && !received && isPlace(frame, arrival.cursor)) {
        // The server stands where we asked it to: this is the task as we know it.
        isExact = true;
        received = true;
        continue;
      }
      if (!received && isLaterTask(frame, arrival.since)) {
        return { kind: "broken", received: true, progressed: true, retry: stream.retry };
      }
      if (!isExact) this.#inexact = true;
      const isFirst = !received;
      received = true;
      if (frame.id !== undefined) this.#cursor = frame.id;
      const { event } = frame;
      if (event.kind === "message") {
        yield { kind: "message", message: event.message };
        return DONE;
      }
      const mayRepeatStatus = this.#inexact || (isFirst && arrival.isReply === true);
      for await (const told of this.#take(event, { isFirst, mayRepeatStatus })) {
        progressed = true;
        yield told;
      }
      if (isFirst && arrival.isReply === true) this.#guessAnswered();
      // A question on the stream of a send need not be its end (0.3: `final: false`). The stream of a subscription goes on in any case.
      const goesOn = arrival.isReply !== undefined && event.kind === "status" && event.moreFollows === true;
      if (this.#isSettled() && !goesOn) return DONE;
      if (event.kind !== "task" && event.final) {
        return this.#isLeftAsking(stream) ? DONE : { kind: "closed", received, progressed };
      }
    }
  }

  /** What is new about one frame. */
  async *#take(event: Exclude<RemoteEvent, { kind: "message" }>, { isFirst, mayRepeatStatus }: FramePlace): Events {
    const view = this.#view;
    const about = event.kind === "task" ? event.task.id : event.taskId;
    const isOther = about !== "" && view.id !== undefined && view.id !== "" && about !== view.id;
    // Nobody asked about another one; but a message may lead to one.
    if (isOther && !isFirst && !this.#isEnd(event)) return;
    if (event.kind === "task") {
      yield* this.#burst(view.catchUp(event.task));
      return;
    }
    const { taskId, contextId, final: _final, moreFollows: _moreFollows, ...told } = event;
    if (told.kind === "status" && mayRepeatStatus) {
      if (this.#inexact && isTerminal(told.status.state)) yield* this.#check();
      if (view.status !== undefined && isSameStatus(view.status, told.status)) return;
      if (view.status !== undefined && isTerminal(view.status.state)) return;
    }
    yield view.add(told, { taskId, contextId });
  }

  /** Some servers give the end of a task that breaks a task's name made up for it. Nothing but its own end ends its stream. */
  #isEnd(event: Exclude<RemoteEvent, { kind: "message" }>): boolean {
    if (event.kind !== "status" || !event.final || !isTerminal(event.status.state)) return false;
    return event.contextId !== "" && event.contextId === this.#view.contextId;
  }

  /**
   * Before the end is told, what the task has come to is compared with what was told of it. Some servers tell of the end before
   * they have written down all that led to it: they are looked at until they have, or until nothing changes any more.
   */
  async *#check(): Events {
    const { id } = this.#view;
    if (id === undefined || id === "") return;
    const { host } = this.#options;
    const { clock, poll } = host.settings;
    let known = "";
    let vainLooks = 0;
    for (let delay = poll.first; ; delay = Math.min(delay * 1.5, poll.most)) {
      let task: Task;
      try {
        task = await host.get(id, this.#signal);
      } catch (thrown) {
        if (this.#signal.aborted) throw thrown;
        // It is over in any case; what was told stands.
        return;
      }
      const now = JSON.stringify(task);
      vainLooks = now === known ? vainLooks + 1 : 0;
      known = now;
      if (isTerminal(task.status.state) || vainLooks >= MAX_VAIN_LOOKS) {
        yield* this.#burst(this.#view.catchUp(task));
        return;
      }
      await pause(clock, delay, this.#signal);
    }
  }

  async *#sendAndLook(request: SendRequest): Events {
    const { taskId } = request.message;
    if (taskId !== undefined && this.#answered === undefined) {
      const { status } = await this.#options.host.get(taskId, this.#signal);
      if (isInterrupted(status.state)) this.#answered = status;
    }
    const result = await this.#options.host.send({ ...request, operation: "send", waitMs: 0 }, this.#signal);
    const events = this.#resultEvents(result);
    yield* this.#burst(events);
    if (result.kind === "replied" || this.#isSettled()) return;
    const id = this.#view.id;
    if (id === undefined) return;
    await pause(this.#options.host.settings.clock, this.#options.host.settings.poll.first, this.#signal);
    yield* this.#look(id);
  }

  /** Looks at a task whose stream will not be resumed. Where it is not to be seen either, what its stream ended with says why. */
  async *#lookAfter(told: RemoteError | undefined, id: TaskId): Events {
    try {
      yield* this.#look(id);
    } catch (thrown) {
      throw this.#signal.aborted ? thrown : refusedAfter(told, toRemoteError(thrown));
    }
  }

  /** Looks at the task every now and then, less often the less it changes. */
  async *#look(id: TaskId): Events {
    const { settings } = this.#options.host;
    const { first, most } = settings.poll;
    for (let delay = first; ; delay = Math.min(delay * 1.5, most)) {
      const events = this.#polled(await this.#options.host.get(id, this.#signal));
      yield* this.#burst(events);
      if (this.#isSettled()) return;
      if (events.length > 0) delay = first;
      await pause(settings.clock, delay, this.#signal);
    }
  }

  /** The events by which a polled task differs. The cursor lies behind them then, and resuming from it would repeat them. */
  #polled(task: Task): readonly RemoteStreamEvent[] {
    const events = this.#view.catchUp(task);
    if (events.length > 0) this.#cursor = undefined;
    return events;
  }

  #isSettled(): boolean {
    const { status } = this.#view;
    if (status === undefined) return false;
    if (isTerminal(status.state)) return true;
    return this.#options.stopsAt(status.state) && !this.#isAnswered(status);
  }

  #isAnswered(status: TaskStatus): boolean {
    return this.#answered !== undefined && isSameStatus(this.#answered, status);
  }

  /** The server has ended the stream, and the task asks something: that is why. */
  #isLeftAsking({ retry }: Pick<FrameStream, "retry">): boolean {
    const { status } = this.#view;
    if (status === undefined || !isInterrupted(status.state) || retry !== undefined) return false;
    return this.#answeredIsGuess || !this.#isAnswered(status);
  }

  /** The stream of a reply begins with the task as it was, which asks what this is the answer to. */
  #guessAnswered(): void {
    const { status } = this.#view;
    if (this.#answered !== undefined || status === undefined || !isInterrupted(status.state)) return;
    this.#answered = status;
    this.#answeredIsGuess = true;
  }
}

interface FramePlace {
  /** On its connection. */
  readonly isFirst: boolean;
  /** Its status may be known already. */
  readonly mayRepeatStatus: boolean;
}

interface Arrival {
  /** Where the server was asked to go on. */
  readonly cursor?: string | undefined;
  readonly isResumed?: boolean;
  /** Of the stream of a send: whether its message goes on with a task. */
  readonly isReply?: boolean;
  /** The last event known before the message was sent. */
  readonly since?: string | undefined;
}

/** Whether a frame is the task after more than one event that is not known: which ones, only the log tells. */
function isLaterTask({ id, event }: Frame, since: string | undefined): boolean {
  if (since === undefined || id === undefined || event.kind !== "task") return false;
  return id !== since && !(isNumber(since) && id === String(Number(since) + 1));
}

function isNumber(id: string): boolean {
  return /^\d{1,15}$/.test(id);
}

/** Whether a frame says no more than that the stream goes on where it was asked to. */
function isPlace({ id, event }: Frame, cursor: string | undefined): boolean {
  if (cursor === undefined || id !== cursor) return false;
  if (event.kind === "task") return (event.task.artifacts ?? []).length === 0;
  return event.kind === "status";
}

/** What the agent told before it would not go on: that is the reason, and this only what came of it. */
function refusedAfter(told: RemoteError | undefined, refusal: RemoteError): RemoteError {
  if (told === undefined) return refusal;
  const { code, message, remote, violations, taskId } = told;
  return new RemoteError(code, `${message} (Its stream could not be resumed: ${refusal.message})`, {
    remote,
    violations,
    ...(taskId !== undefined && { taskId }),
    cause: refusal,
  });
}

function lost(error: RemoteError | undefined, taskId: string | undefined): RemoteError {
  const why = error === undefined ? "the agent ends it again and again without news" : error.message;
  return new RemoteError("stream-lost", `The task's stream broke and could not be resumed: ${why}`, {
    ...(taskId !== undefined && { taskId }),
    ...(error !== undefined && { cause: error, remote: error.remote }),
  });
}
