import type { Stream } from "../dialect-client.ts";
import type { EventSource, ServerSentEvent } from "../http.ts";
import type { Frame, StreamEvent } from "../neutral.ts";
import { wrong } from "../strict.ts";

export interface FrameReading {
  read(data: string): StreamEvent;
  /** Combines the opening frames of a stream into one, if only the last of them has an id. */
  join?(opening: readonly StreamEvent[]): StreamEvent;
}

/** A stream whose first event was already read. Every frame except a bare message must have an id to resume from. */
export function frameStream(source: EventSource, first: ServerSentEvent, { read, join }: FrameReading): Stream {
  let pending: ServerSentEvent | undefined = first;
  let last = -1;
  let final = false;
  const nextEvent = async (): Promise<ServerSentEvent | undefined> => {
    const event = pending ?? (await source.next());
    pending = undefined;
    if (event?.event !== undefined) wrong("A frame", "must not be named here", event);
    if (final && event !== undefined) wrong("A stream", "goes on after its final event", event);
    return event;
  };
  const eventOf = ({ data }: ServerSentEvent): StreamEvent => {
    const event = read(data);
    final = event.kind === "status" && event.final === true;
    return event;
  };
  const frameOf = (event: StreamEvent, id: string | undefined): Frame => {
    if (event.kind !== "message") {
      const seq = Number(id);
      if (!Number.isInteger(seq) || seq <= last) wrong("id", `must be greater than ${last}`, id);
      last = seq;
    }
    return { ...event, id };
  };
  const next = async (): Promise<Frame | undefined> => {
    let event = await nextEvent();
    if (event === undefined) return undefined;
    if (join === undefined || last >= 0) return frameOf(eventOf(event), event.id);
    const opening = [eventOf(event)];
    while (event.id === undefined) {
      event = (await nextEvent()) ?? wrong("A stream", "ends before there is an id", opening);
      opening.push(eventOf(event));
    }
    return frameOf(join(opening), event.id);
  };
  return {
    next,
    async until(wanted) {
      const frames: Frame[] = [];
      for (;;) {
        const frame = await next();
        if (frame === undefined) throw new Error(`The stream closed after ${JSON.stringify(frames)}`);
        frames.push(frame);
        if (wanted(frame)) return frames;
      }
    },
    async rest() {
      const frames: Frame[] = [];
      for (let frame = await next(); frame !== undefined; frame = await next()) frames.push(frame);
      return frames;
    },
    close: () => source.close(),
  };
}

/** Throws unless a response is an event stream that caches and proxies do not buffer. */
export function checkStreamHeaders({ status, headers }: Response): void {
  if (status !== 200) wrong("HTTP status", "must be 200", status);
  if (headers.get("content-type") !== "text/event-stream") wrong("content-type", "must be text/event-stream");
  if (headers.get("cache-control") !== "no-cache") wrong("cache-control", "must be no-cache");
}
