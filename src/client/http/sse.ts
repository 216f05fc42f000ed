import { RemoteError } from "./errors.ts";

/** One event of a stream of Server-Sent Events. */
export interface ServerSentEvent {
  /** The data lines, joined by line feeds. */
  readonly data: string;
  /** The event's name; `message` if it has none. */
  readonly event: string;
  /** The id of this event, if it has one. */
  readonly id: string | undefined;
}

/** Limits of a stream. */
export interface SseOptions {
  /** The longest event in characters, including comments and field names. */
  readonly maxEventLength: number;
}

/**
 * Parses Server-Sent Events from text in pieces of any size. It buffers at most one event. Lines end in LF, CRLF or CR; comments and unknown
 * fields are skipped.
 */
export class SseParser {
  /** Milliseconds to wait before reconnecting, if the server has sent a `retry` field. */
  retry: number | undefined;
  readonly #maxLength: number;
  /** The incomplete last line. */
  #line = "";
  #data: string[] = [];
  #event = "";
  #id: string | undefined;
  /** Buffered characters, in the line and in the data. */
  #length = 0;
  /** The last piece ended in CR: an LF at the start of the next one belongs to it. */
  #afterCarriageReturn = false;

  constructor({ maxEventLength }: SseOptions) {
    this.#maxLength = maxEventLength;
  }

  /** Adds a piece and returns the events that it completes. */
  push(text: string): ServerSentEvent[] {
    const events: ServerSentEvent[] = [];
    let start = this.#afterCarriageReturn && text.startsWith("\n") ? 1 : 0;
    if (text !== "") this.#afterCarriageReturn = false;
    for (;;) {
      const end = lineEnd(text, start);
      if (end === -1) break;
      this.#hold(text.slice(start, end));
      const event = this.#endLine();
      if (event !== undefined) events.push(event);
      start = end + 1;
      if (text.charCodeAt(end) !== CARRIAGE_RETURN) continue;
      if (start === text.length) this.#afterCarriageReturn = true;
      else if (text.charCodeAt(start) === LINE_FEED) start++;
    }
    if (start < text.length) this.#hold(text.slice(start));
    return events;
  }

  /** The last event at the end of the stream, if only its closing empty line is missing. */
  end(): ServerSentEvent | undefined {
    return this.#line === "" ? this.#dispatch() : undefined;
  }

  /** Throws before the text grows beyond the limit: an endless line must not fill the memory. */
  #hold(piece: string): void {
    this.#length += piece.length;
    if (this.#length > this.#maxLength) {
      throw new RemoteError("event-too-large", `An event of the stream has more than ${this.#maxLength} characters.`);
    }
    this.#line += piece;
  }

  #endLine(): ServerSentEvent | undefined {
    const line = this.#line;
    this.#line = "";
    if (line === "") return this.#dispatch();
    return this.#readLine(line.charCodeAt(0) === RECORD_SEPARATOR ? line.slice(1) : line);
  }

  /** A comment does not count towards the length of an event: heartbeats may arrive for hours. */
  #readLine(line: string): undefined {
    const colon = line.indexOf(":");
    if (colon === 0) {
      this.#length -= line.length;
      return undefined;
    }
    const name = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(line.charCodeAt(colon + 1) === SPACE ? colon + 2 : colon + 1);
    this.#field(name, value);
    return undefined;
  }

  #field(name: string, value: string): void {
    if (name === "data") this.#data.push(value.charCodeAt(0) === RECORD_SEPARATOR ? value.slice(1) : value);
    else if (name === "event") this.#event = value;
    else if (name === "id" && !value.includes("\0")) this.#id = value;
    else if (name === "retry" && /^\d{1,9}$/.test(value)) this.retry = Number(value);
  }

  /** An event without data is not delivered, as the standard says. Unlike there, an id applies to its own event only. */
  #dispatch(): ServerSentEvent | undefined {
    const data = this.#data.length === 1 ? this.#data[0] : this.#data.join("\n");
    const event = { data: data ?? "", event: this.#event || "message", id: this.#id };
    this.#data = [];
    this.#event = "";
    this.#id = undefined;
    this.#length = 0;
    return event.data === "" ? undefined : event;
  }
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const SPACE = 32;
/** Some servers (VoltAgent) write this character before the data; JSON cannot start with it. */
const RECORD_SEPARATOR = 0x1e;

const LINE_END = /[\r\n]/g;

function lineEnd(text: string, start: number): number {
  LINE_END.lastIndex = start;
  const match = LINE_END.exec(text);
  return match === null ? -1 : match.index;
}
