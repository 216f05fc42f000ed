import type { TaskId } from "../../protocol/ids.ts";
import type { SendRequest } from "../../protocol/operation.ts";
import type { AgentHost } from "../agent-host.ts";
import type { RemoteStreamEvent } from "../api.ts";
import { pause } from "../http/abort.ts";
import type { PreparedCall } from "../http/channel.ts";
import { toRemoteError } from "../http/errors.ts";
import type {
  CheckingReply,
  CheckOutcome,
  Ending,
  FollowFacts,
  FollowState,
  Polling,
  PollOutcome,
  Sending,
  SubmitOutcome,
  Submitting,
  Subscribing,
} from "./follow-state.ts";
import { FollowedTask, type FollowedTaskOptions } from "./followed-task.ts";
import { openSubscription } from "./open-subscription.ts";
import { pauseLength } from "./pause-length.ts";
import { ConnectionReader } from "./read-connection.ts";
import { isSameStatus } from "./task-view.ts";
import { startSending, startSubscribing, transitions } from "./transitions.ts";

/** What to follow, and how to reach it. */
export interface FollowOptions extends FollowedTaskOptions {
  readonly host: AgentHost;
  readonly signal: AbortSignal;
}

type Events = AsyncGenerator<RemoteStreamEvent, void>;

/**
 * Follows one task through as many connections and polls as it takes: performs the I/O of each state and lets `transitions` decide what comes
 * next. A server that numbers its events resumes exactly, without lost or repeated events. With other servers the current task is
 * compared with the view, the differences become events, and the task's end is checked against the task itself.
 */
export class TaskFollower {
  readonly #host: AgentHost;
  readonly #signal: AbortSignal;
  readonly #followed: FollowedTask;
  readonly #reader: ConnectionReader;
  /** The id of the last event before a message was sent. */
  readonly #cursorBefore: string | undefined;
  /** The same request in every attempt, ids included, and when the first attempt began. */
  #sent: { readonly call: PreparedCall; readonly at: number } | undefined;

  constructor({ host, signal, ...options }: FollowOptions) {
    this.#host = host;
    this.#signal = signal;
    this.#followed = new FollowedTask(options);
    this.#reader = new ConnectionReader({ host, followed: this.#followed, signal });
    this.#cursorBefore = options.cursor;
  }

  /** The id of the last event, if the server numbers its events. */
  get cursor(): string | undefined {
    return this.#followed.cursor;
  }

  /** Sends a message and follows the task that answers it. */
  send(request: SendRequest): Events {
    const knowsQuestion = this.#followed.answered !== undefined;
    return this.#run((facts) => startSending({ request, knowsQuestion }, facts));
  }

  /** Follows an existing task. */
  subscribe(id: TaskId): Events {
    return this.#run((facts) => startSubscribing(id, facts));
  }

  /**
   * Each state yields its events while its I/O runs; the outcome of the I/O decides the next state. Ends by return (`done`) or by an error.
   */
  async *#run(start: (facts: FollowFacts) => FollowState): Events {
    const host = this.#host;
    let state = start(this.#facts());
    for (;;) {
      switch (state.name) {
        case "sending":
          state = transitions.sending(state, yield* this.#send(state), this.#facts());
          break;
        case "submitting":
          state = transitions.submitting(state, yield* this.#submit(state), this.#facts());
          break;
        case "checking-reply":
          state = transitions["checking-reply"](state, yield* this.#checkReply(state), this.#facts());
          break;
        case "subscribing": {
          const openedAt = host.settings.clock.now();
          const ending: Ending = yield* this.#subscribe(state);
          const lifetime = host.settings.clock.now() - openedAt;
          state = transitions.subscribing(state, { ending, lifetime }, this.#facts());
          break;
        }
        case "polling":
          state = transitions.polling(state, yield* this.#poll(state), this.#facts());
          break;
        case "waiting":
          await pause(host.settings.clock, pauseLength(host.settings, state.pause), this.#signal);
          state = state.next;
          break;
        case "undelivered":
          throw host.unknownOutcome(state.error, state.request.message, state.errors);
        case "failed":
          throw state.error;
        case "done":
          return;
      }
    }
  }

  /** Read anew before each transition: events and answers change them. */
  #facts(): FollowFacts {
    const { streams, settings } = this.#host;
    return {
      taskId: this.#followed.view.id || undefined,
      hasCursor: this.#followed.cursor !== undefined,
      streams,
      mayResend: this.#sent !== undefined && this.#host.mayResend(this.#sent.at),
      settings,
    };
  }

  #send({ request, errors }: Sending): AsyncGenerator<RemoteStreamEvent, Ending> {
    const host = this.#host;
    const { channel, settings } = host;
    this.#sent ??= { call: channel.prepare({ ...request, operation: "stream" }), at: settings.clock.now() };
    const { call } = this.#sent;
    // The stream of a reply starts with the current task. A subscription replays what happened since the last known event.
    const since = errors.length > 0 || host.isIdempotent ? this.#cursorBefore : undefined;
    const isReply = request.message.taskId !== undefined;
    return this.#reader.read(() => channel.open(call, { signal: this.#signal }), { isReply, since });
  }

  /** With a cursor, the server sends only what followed it (`Last-Event-ID`). */
  #subscribe({ taskId, dropsCursor }: Subscribing): AsyncGenerator<RemoteStreamEvent, Ending> {
    const followed = this.#followed;
    if (dropsCursor) followed.cursor = undefined;
    const { cursor } = followed;
    const context = { signal: this.#signal, cursor };
    const isResumed = followed.view.status !== undefined;
    return this.#reader.read(() => openSubscription(this.#host, taskId, context), { cursor, isResumed });
  }

  /** Sends the message without a stream and does not wait for the task. */
  async *#submit({ request, streamsRejected }: Submitting): AsyncGenerator<RemoteStreamEvent, SubmitOutcome> {
    const followed = this.#followed;
    const { taskId } = request.message;
    if (taskId !== undefined && followed.answered === undefined) {
      followed.markAnswered(await this.#host.get(taskId, this.#signal));
    }
    const result = await this.#host.send({ ...request, operation: "send", waitMs: 0 }, this.#signal);
    // The agent accepted the message without a stream: later messages need not try one.
    if (streamsRejected) this.#host.streams = false;
    yield* this.#reader.paced(followed.resultEvents(result));
    return { isSettled: result.kind === "replied" || followed.isSettled(), taskId: followed.view.id };
  }

  /**
   * Some servers start to work on a reply and then find that they cannot stream the result. If the task no longer asks the answered
   * question, the agent accepted the reply.
   */
  async *#checkReply({ taskId }: CheckingReply): AsyncGenerator<RemoteStreamEvent, CheckOutcome> {
    const followed = this.#followed;
    const task = await this.#host.get(taskId, this.#signal);
    if (followed.answered !== undefined && isSameStatus(followed.answered, task.status)) return "not-accepted";
    // A server that numbers its events sends those since the question one by one.
    if (followed.cursor === undefined) yield* this.#reader.paced(followed.catchUp(task));
    return followed.isSettled() ? "settled" : "accepted";
  }

  /** Errors are part of the outcome, except after an abort. */
  async *#poll({ taskId }: Polling): AsyncGenerator<RemoteStreamEvent, PollOutcome> {
    const followed = this.#followed;
    let events: readonly RemoteStreamEvent[];
    try {
      events = followed.catchUp(await this.#host.get(taskId, this.#signal));
    } catch (thrown) {
      if (this.#signal.aborted) throw thrown;
      return { error: toRemoteError(thrown) };
    }
    yield* this.#reader.paced(events);
    if (followed.isSettled()) return "settled";
    return events.length > 0 ? "changed" : "unchanged";
  }
}
