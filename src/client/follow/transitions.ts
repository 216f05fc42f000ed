import type { TaskId } from "../../protocol/ids.ts";
import { exceedsMaxDelay, mayRepeat } from "../http/back-off.ts";
import { RemoteError } from "../http/errors.ts";
import type {
  CheckingReply,
  CheckOutcome,
  ConnectionEnd,
  Done,
  Ending,
  Failed,
  FollowFacts,
  FollowState,
  Polling,
  PollOutcome,
  Reconnecting,
  Sending,
  SubmitOutcome,
  Submitting,
  Subscribing,
} from "./follow-state.ts";
import { endsFollowing, isTransient, rejectsStreams, resumeRejected, streamLost } from "./refusals.ts";

/** A connection that lasted this many milliseconds and received anything counts as a success. */
const LONG_LIFE = 10_000;

const DONE: Done = { name: "done" };

/** The first state for a message. */
export function startSending(
  message: Pick<Sending, "request" | "knowsQuestion">,
  { streams }: FollowFacts,
): FollowState {
  if (!streams) return { name: "submitting", request: message.request, streamsRejected: false };
  return { name: "sending", ...message, errors: [] };
}

/** The first state for a task that exists. */
export function startSubscribing(taskId: TaskId, { streams, settings }: FollowFacts): FollowState {
  if (!streams) return polling(taskId, settings);
  return { name: "subscribing", taskId, failures: 0, reported: undefined, dropsCursor: false };
}

/** The state after each state, from the outcome of its I/O. Pure: no I/O, no clock, no randomness. */
export const transitions = {
  sending(state: Sending, ending: Ending, facts: FollowFacts): FollowState {
    if (ending.name === "done") return DONE;
    if (ending.received) return reconnect({ failures: 0, reported: undefined }, ending, facts);
    const { request } = state;
    const replyTo = request.message.taskId;
    const error = ending.error ?? new RemoteError("network", "The agent ended the stream without sending anything.");
    if (rejectsStreams(error, replyTo !== undefined)) return { name: "submitting", request, streamsRejected: true };
    if (error.code === "unsupported-operation" && replyTo !== undefined && state.knowsQuestion) {
      return { name: "checking-reply", taskId: replyTo, sending: state, error };
    }
    return afterSendFailed(state, error, facts);
  },

  submitting(_state: Submitting, { isSettled, taskId }: SubmitOutcome, { settings }: FollowFacts): FollowState {
    if (isSettled || taskId === undefined) return DONE;
    return wait(settings.poll.first, polling(taskId, settings));
  },

  "checking-reply"({ taskId, sending, error }: CheckingReply, outcome: CheckOutcome, facts: FollowFacts): FollowState {
    if (outcome === "settled") return DONE;
    return outcome === "accepted" ? startSubscribing(taskId, facts) : afterSendFailed(sending, error, facts);
  },

  subscribing(state: Subscribing, { ending, lifetime }: Subscription, facts: FollowFacts): FollowState {
    if (ending.name === "done") return DONE;
    const { received, error } = ending;
    // The id is not a cursor, or belongs to a log that is gone.
    const dropsCursor = !received && error?.code === "invalid-params" && facts.hasCursor;
    if (!received && !dropsCursor && error !== undefined) {
      if (endsFollowing(error)) return { ...polling(state.taskId, facts.settings), reported: state.reported };
      if (!mayRepeat(error, true)) return failed(resumeRejected(state.reported, error));
    }
    // A long quiet task outlives connections that bring nothing. Those worked.
    const failures = received && lifetime >= LONG_LIFE ? 0 : state.failures;
    return reconnect({ ...state, failures, dropsCursor }, ending, facts);
  },

  polling(
    { taskId, delay, reported }: Polling,
    outcome: PollOutcome,
    { settings: { poll } }: FollowFacts,
  ): FollowState {
    if (typeof outcome === "object") return failed(resumeRejected(reported, outcome.error));
    if (outcome === "settled") return DONE;
    const now = outcome === "changed" ? poll.first : delay;
    return wait(now, { name: "polling", taskId, delay: Math.min(now * 1.5, poll.most), reported });
  },
};

interface Subscription {
  readonly ending: Ending;
  /** Milliseconds from the request to the end of the connection. */
  readonly lifetime: number;
}

type Before = Reconnecting & Partial<Pick<Subscribing, "taskId" | "dropsCursor">>;

/** After a connection that did not end the task's stream: subscribe again, poll instead, or fail. */
function reconnect(before: Before, ended: ConnectionEnd, facts: FollowFacts): FollowState {
  const { error, received, progressed } = ended;
  const { retry } = facts.settings;
  const taskId = facts.taskId ?? before.taskId;
  // A server that fails and then starts over sends the same events each time. An error that it reports itself always counts as a failure.
  const hasFailed = error !== undefined && isTransient(error);
  const failures = progressed && !hasFailed ? 0 : before.failures + 1;
  const lost = (): FollowState => failed(streamLost(error, { taskId, reconnects: retry.reconnects }));
  if (failures >= retry.reconnects || taskId === undefined) return lost();
  if (ended.name === "closed" && failures > closesAccepted(facts)) {
    // The server sends the task's state and ends the stream. Polling gets the same with less work.
    return polling(taskId, facts.settings);
  }
  if (failures > 0 && error !== undefined && exceedsMaxDelay(retry, error)) return lost();
  const reported = hasFailed && received ? error : progressed ? undefined : before.reported;
  const next: Subscribing = {
    name: "subscribing",
    taskId,
    failures,
    reported,
    dropsCursor: before.dropsCursor === true,
  };
  return { name: "waiting", pause: { kind: "reconnect", ended, failures }, next };
}

/**
 * How many streams in a row a server may end without a new event before the task is polled. A server that numbers its events may only be
 * restarting and can resume them exactly, whereas polling reconstructs events.
 */
function closesAccepted({ hasCursor, settings }: FollowFacts): number {
  return hasCursor ? Math.max(1, settings.retry.reconnects - 2) : 1;
}

/** Sends the message again only if the agent cannot do the work twice. */
function afterSendFailed(state: Sending, error: RemoteError, { mayResend, settings }: FollowFacts): FollowState {
  const { retry } = settings;
  const errors = [...state.errors, error];
  const failures = errors.length;
  const isRepeated = mayRepeat(error, mayResend) && !exceedsMaxDelay(retry, error) && failures < retry.attempts;
  if (!isRepeated) return { name: "undelivered", request: state.request, error, errors };
  return { name: "waiting", pause: { kind: "retry", error, failures }, next: { ...state, errors } };
}

function polling(taskId: TaskId, { poll }: FollowFacts["settings"]): Polling {
  return { name: "polling", taskId, delay: poll.first };
}

function wait(milliseconds: number, next: Polling): FollowState {
  return { name: "waiting", pause: { kind: "fixed", milliseconds }, next };
}

function failed(error: RemoteError): Failed {
  return { name: "failed", error };
}
