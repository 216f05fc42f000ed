import type { A2AError } from "../../protocol/error.ts";
import type { OpenStreamReply, PresentedStream } from "../call/answer-call.ts";
import type { Endpoint } from "../endpoint.ts";
import type { FullReply, Headers } from "../exchange.ts";
import { answerKind } from "../text/answer-kind.ts";
import type { TextCall } from "../text/text-call.ts";
import { EventStream, type EventStreamOptions, errorFrame } from "./event-stream.ts";

const STREAM_HEADERS: Headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-cache",
  "x-accel-buffering": "no",
};

export interface SseStream extends PresentedStream {
  /** Frames have an `event:` line, if the dialect names its events. */
  readonly namesEvents: boolean;
}

/** Writes a stream as Server-Sent Events. Throws `unavailable` if the longer answers hold too much memory. */
export function presentStream(endpoint: Endpoint, call: TextCall, presented: SseStream): OpenStreamReply {
  const { stream, ended, namesEvents } = presented;
  if (stream.opening.kind === "task") call.useStyleOf(stream.opening.task.dialect);
  const { envelope, codec } = call;
  const { answers } = endpoint;
  const source = openEventStream({
    stream,
    codec,
    envelope,
    namesEvents,
    openAnswer: (opening) => {
      const kind = answerKind(endpoint, call);
      return typeof opening === "string" ? answers.ofText(opening, kind) : answers.ofPieces(opening, 0, kind);
    },
    ended,
  });
  return { status: 200, headers: call.headersWith(STREAM_HEADERS), source };
}

/** Writes an error as a stream of one event. */
export function presentErrorEvent(call: TextCall, error: A2AError, status: number): FullReply {
  const text = call.envelope.error(call.codec.encodeError(error));
  return { status, headers: { ...STREAM_HEADERS, ...call.limitHeaders }, body: errorFrame(text) };
}

/** Closes the subscription if the opening is refused: nobody would read its events. */
function openEventStream(options: EventStreamOptions): EventStream {
  try {
    return new EventStream(options);
  } catch (thrown) {
    options.stream.events?.close();
    throw thrown;
  }
}
