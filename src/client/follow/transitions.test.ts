import { describe, expect, it } from "vitest";
import type { MessageId, TaskId } from "../../protocol/ids.ts";
import type { SendRequest } from "../../protocol/operation.ts";
import { RemoteError, type RemoteErrorCode } from "../http/errors.ts";
import type { CheckingReply, ConnectionEnd, FollowFacts, Polling, Sending, Subscribing } from "./follow-state.ts";
import { startSending, startSubscribing, transitions } from "./transitions.ts";

const TASK = "t" as TaskId;
const FACTS: FollowFacts = {
  taskId: TASK,
  hasCursor: false,
  streams: true,
  mayResend: false,
  settings: {
    retry: { attempts: 3, reconnects: 5, baseDelay: 100, maxDelay: 10_000 },
    poll: { first: 1000, most: 2000 },
  },
};
const REQUEST: SendRequest = {
  operation: "stream",
  tenant: "",
  message: { messageId: "m" as MessageId, role: "user", parts: [{ text: "Hello" }] },
  waitMs: Number.POSITIVE_INFINITY,
  metadata: {},
  outputModes: [],
  history: undefined,
};
const REPLY: SendRequest = { ...REQUEST, message: { ...REQUEST.message, taskId: TASK } };

const SENDING: Sending = { name: "sending", request: REQUEST, knowsQuestion: false, errors: [] };
const SENDING_REPLY: Sending = { ...SENDING, request: REPLY, knowsQuestion: true };
const SUBSCRIBING: Subscribing = {
  name: "subscribing",
  taskId: TASK,
  failures: 0,
  reported: undefined,
  dropsCursor: false,
};
const NO_RECONNECTS: FollowFacts = {
  ...FACTS,
  settings: { ...FACTS.settings, retry: { ...FACTS.settings.retry, reconnects: 0 } },
};
const POLLING: Polling = { name: "polling", taskId: TASK, delay: 1500 };
const DONE = { name: "done" } as const;

function error(code: RemoteErrorCode, text = code as string, retryAfter?: number): RemoteError {
  return new RemoteError(code, text, { remote: retryAfter === undefined ? {} : { retryAfter } });
}

/** The connection never opened. */
function refused(thrown: RemoteError): ConnectionEnd {
  return { name: "broken", received: false, progressed: false, error: thrown };
}

const CLOSED_WITH_NEWS: ConnectionEnd = { name: "closed", received: true, progressed: true };
const CLOSED_WITHOUT_NEWS: ConnectionEnd = { name: "closed", received: true, progressed: false };
const BROKEN_WITH_NEWS: ConnectionEnd = {
  name: "broken",
  received: true,
  progressed: true,
  error: error("network"),
};

describe("the first state", () => {
  const message = { request: REQUEST, knowsQuestion: false };

  it.each([
    ["a message streams if the agent streams", startSending(message, FACTS), { name: "sending", errors: [] }],
    [
      "a message is sent without a stream if the agent does not stream",
      startSending(message, { ...FACTS, streams: false }),
      { name: "submitting", streamsRejected: false },
    ],
    ["a task is subscribed to", startSubscribing(TASK, FACTS), SUBSCRIBING],
    ["a task is subscribed to with `reconnects: 0`", startSubscribing(TASK, NO_RECONNECTS), SUBSCRIBING],
    [
      "a task is polled if the agent does not stream",
      startSubscribing(TASK, { ...FACTS, streams: false }),
      { name: "polling", taskId: TASK, delay: 1000 },
    ],
  ])("%s", (_name, state, expected) => {
    expect(state).toMatchObject(expected);
  });
});

describe("after a message was sent with a stream", () => {
  const resendable = { ...FACTS, mayResend: true };
  const unavailable = error("unavailable");
  const network = error("network");
  const unsupported = error("unsupported-operation", "The task is finished.");
  const noStreams = error("unsupported-operation", "Streaming is not supported.");

  it.each<[string, unknown, object]>([
    ["following ends with the task", transitions.sending(SENDING, DONE, FACTS), DONE],
    [
      "a stream that broke after events is resumed",
      transitions.sending(SENDING, BROKEN_WITH_NEWS, FACTS),
      { name: "waiting", pause: { kind: "reconnect", failures: 0 }, next: SUBSCRIBING },
    ],
    [
      "a stream that broke before it named a task is lost",
      transitions.sending(SENDING, BROKEN_WITH_NEWS, { ...FACTS, taskId: undefined }),
      {
        name: "failed",
        error: {
          code: "stream-lost",
          message: "The stream broke before it named a task, so it cannot be resumed: network",
        },
      },
    ],
    [
      "a message that the agent cannot stream is sent without a stream",
      transitions.sending(SENDING, refused(noStreams), FACTS),
      { name: "submitting", streamsRejected: true },
    ],
    [
      "a message without a task is sent without a stream after task-not-found",
      transitions.sending(SENDING, refused(error("task-not-found")), FACTS),
      { name: "submitting", streamsRejected: true },
    ],
    [
      "a reply fails after task-not-found",
      transitions.sending(SENDING_REPLY, refused(error("task-not-found")), FACTS),
      { name: "undelivered", error: { code: "task-not-found" } },
    ],
    [
      "a reply that the agent does not support is checked",
      transitions.sending(SENDING_REPLY, refused(unsupported), FACTS),
      { name: "checking-reply", taskId: TASK, error: unsupported },
    ],
    [
      "a reply to an unknown question cannot be checked",
      transitions.sending({ ...SENDING_REPLY, knowsQuestion: false }, refused(unsupported), FACTS),
      { name: "undelivered", error: unsupported },
    ],
    [
      "a message is not resent if that might do the work twice",
      transitions.sending(SENDING, refused(network), FACTS),
      { name: "undelivered", error: network, errors: [network] },
    ],
    [
      "a message is resent if the agent recognises it",
      transitions.sending(SENDING, refused(network), resendable),
      { name: "waiting", pause: { kind: "retry", failures: 1 }, next: { ...SENDING, errors: [network] } },
    ],
    [
      "a stream that ends without any frame counts as a network error",
      transitions.sending(SENDING, { name: "closed", received: false, progressed: false }, resendable),
      { name: "waiting", pause: { kind: "retry", error: { code: "network" } } },
    ],
    [
      "a message is undelivered after the last attempt",
      transitions.sending({ ...SENDING, errors: [network, network] }, refused(unavailable), resendable),
      { name: "undelivered", error: unavailable, errors: [network, network, unavailable] },
    ],
    [
      "a message is undelivered if the agent asks for a longer wait than maxDelay",
      transitions.sending(SENDING, refused(error("unavailable", "Busy", 11)), resendable),
      { name: "undelivered", error: { message: "Busy" } },
    ],
  ])("%s", (_name, state, expected) => {
    expect(state).toMatchObject(expected);
  });

  const checking: CheckingReply = {
    name: "checking-reply",
    taskId: TASK,
    sending: SENDING_REPLY,
    error: unsupported,
  };

  it.each([
    ["a settled task ends following", transitions["checking-reply"](checking, "settled", FACTS), DONE],
    ["an accepted reply is followed", transitions["checking-reply"](checking, "accepted", FACTS), SUBSCRIBING],
    [
      "a reply that was not accepted fails with the agent's error",
      transitions["checking-reply"](checking, "not-accepted", FACTS),
      { name: "undelivered", error: unsupported },
    ],
  ])("checking a reply: %s", (_name, state, expected) => {
    expect(state).toMatchObject(expected);
  });
});

describe("after a subscription", () => {
  const afterEnding = (
    ending: ConnectionEnd,
    {
      state,
      facts,
      lifetime = 0,
    }: { state?: Partial<Subscribing>; facts?: Partial<FollowFacts>; lifetime?: number } = {},
  ): unknown => transitions.subscribing({ ...SUBSCRIBING, ...state }, { ending, lifetime }, { ...FACTS, ...facts });
  const internal = error("internal", "The disk is full.");

  it.each<[string, unknown, object]>([
    ["following ends with the task", transitions.subscribing(SUBSCRIBING, { ending: DONE, lifetime: 0 }, FACTS), DONE],
    [
      "a new event resets the failures",
      afterEnding(CLOSED_WITH_NEWS, { state: { failures: 3 } }),
      { name: "waiting", next: { name: "subscribing", failures: 0 } },
    ],
    [
      "a connection without a new event is a failure",
      afterEnding(CLOSED_WITHOUT_NEWS),
      { name: "waiting", next: { name: "subscribing", failures: 1 } },
    ],
    [
      "a second closed stream without a new event leads to polling",
      afterEnding(CLOSED_WITHOUT_NEWS, { state: { failures: 1 } }),
      {
        name: "polling",
        delay: 1000,
      },
    ],
    [
      "a server that numbers its events may close more streams before it is polled",
      afterEnding(CLOSED_WITHOUT_NEWS, { state: { failures: 1 }, facts: { hasCursor: true } }),
      { name: "waiting", next: { failures: 2 } },
    ],
    [
      "a quiet connection of 10 s counts as a success",
      afterEnding(CLOSED_WITHOUT_NEWS, { state: { failures: 3 }, lifetime: 10_000 }),
      { name: "waiting", next: { failures: 1 } },
    ],
    [
      "the stream is lost after the last reconnect",
      afterEnding(refused(error("network", "Refused")), { state: { failures: 4 } }),
      { name: "failed", error: { code: "stream-lost", taskId: TASK } },
    ],
    [
      "the stream is lost after the first connection with `reconnects: 0`, even after a new event",
      afterEnding(CLOSED_WITH_NEWS, { facts: NO_RECONNECTS }),
      {
        name: "failed",
        error: {
          code: "stream-lost",
          taskId: TASK,
          message: "The task's stream ended and was not resumed, because `retry.reconnects` is 0",
        },
      },
    ],
    [
      "the error says why the connection broke with `reconnects: 0`",
      afterEnding(refused(error("network", "Refused")), { facts: NO_RECONNECTS }),
      {
        name: "failed",
        error: { message: "The task's stream broke and was not resumed, because `retry.reconnects` is 0: Refused" },
      },
    ],
    [
      "the error says that the agent kept ending the stream",
      afterEnding(CLOSED_WITHOUT_NEWS, { state: { failures: 4 } }),
      {
        name: "failed",
        error: {
          message:
            "The task's stream could not be resumed: the agent ended it several times without sending anything new",
        },
      },
    ],
    [
      "the stream is lost if the agent asks for a longer wait than maxDelay",
      afterEnding(refused(error("unavailable", "Busy", 11))),
      { name: "failed", error: { code: "stream-lost" } },
    ],
    [
      "a transient error counts as a failure even after a new event, and is remembered",
      afterEnding({ ...BROKEN_WITH_NEWS, error: internal }, { state: { failures: 1 } }),
      { name: "waiting", next: { failures: 2, reported: internal } },
    ],
    [
      "a new event clears the remembered error",
      afterEnding(CLOSED_WITH_NEWS, { state: { reported: internal } }),
      { name: "waiting", next: { reported: undefined } },
    ],
    [
      "a rejected cursor is dropped",
      afterEnding(refused(error("invalid-params")), { facts: { hasCursor: true } }),
      { name: "waiting", next: { dropsCursor: true } },
    ],
    [
      "a task that cannot be subscribed to is polled",
      afterEnding(refused(error("invalid-params")), { state: { reported: internal } }),
      { name: "polling", delay: 1000, reported: internal },
    ],
    [
      "other errors end following",
      afterEnding(refused(error("unauthenticated"))),
      { name: "failed", error: { code: "unauthenticated" } },
    ],
    [
      "an error that the agent reported before explains the refusal to resume",
      afterEnding(refused(error("unauthenticated", "No.")), { state: { reported: internal } }),
      {
        name: "failed",
        error: { code: "internal", message: "The disk is full. (Its stream could not be resumed: No.)" },
      },
    ],
  ])("%s", (_name, state, expected) => {
    expect(state).toMatchObject(expected);
  });
});

describe("after a poll", () => {
  const gone = error("task-not-found", "Gone.");
  const next = (delay: number): object => ({ name: "polling", taskId: TASK, delay });
  const waiting = (milliseconds: number, delay: number): object => ({
    name: "waiting",
    pause: { kind: "fixed", milliseconds },
    next: next(delay),
  });
  const submitting = { name: "submitting", request: REQUEST, streamsRejected: false } as const;

  it.each<[string, unknown, object]>([
    ["a settled task ends following", transitions.polling(POLLING, "settled", FACTS), DONE],
    ["a change resets the delay", transitions.polling(POLLING, "changed", FACTS), waiting(1000, 1500)],
    ["the delay grows by half, up to poll.most", transitions.polling(POLLING, "unchanged", FACTS), waiting(1500, 2000)],
    ["an error ends following", transitions.polling(POLLING, { error: gone }, FACTS), { name: "failed", error: gone }],
    [
      "an error that the agent reported before explains it",
      transitions.polling({ ...POLLING, reported: error("internal", "Full.") }, { error: gone }, FACTS),
      { name: "failed", error: { code: "internal", cause: gone } },
    ],
    [
      "a sent message is polled after poll.first",
      transitions.submitting(submitting, { isSettled: false, taskId: TASK }, FACTS),
      waiting(1000, 1000),
    ],
    [
      "an answered message needs no poll",
      transitions.submitting(submitting, { isSettled: true, taskId: TASK }, FACTS),
      DONE,
    ],
  ])("%s", (_name, state, expected) => {
    expect(state).toMatchObject(expected);
  });
});
