import { TextBytes, type TextEncoding } from "../../telemetry/otlp/text-bytes.ts";

const LINE_FEED = 0x0a;
/** The first of 64 digits. */
const ZERO = 0x30;
const HIGH = 2 ** 30;
const HIGH_DIGITS = 4;
const LOW_DIGITS = 5;

/** Characters of a time. */
export const TIME_LENGTH: number = HIGH_DIGITS + LOW_DIGITS;

/** Writes into the array without a view of it for each text. */
export const NODE_ENCODING: TextEncoding = {
  allocate: (size) => Buffer.alloc(size),
  write(bytes, text, at) {
    if (bytes instanceof Buffer) bytes.write(text, at, "latin1");
  },
};

/** Lines of ASCII as bytes. */
export class LineWriter extends TextBytes {
  constructor() {
    super(65_536, NODE_ENCODING);
  }

  /** Writes a whole line. */
  line(text: string): void {
    this.write(text);
    this.end();
  }

  /** Ends a line. */
  end(): void {
    this.writeCode(LINE_FEED);
  }

  /** A time in milliseconds, exact to the microsecond. */
  time(milliseconds: number): void {
    const microseconds = Math.round(milliseconds * 1000);
    this.writeNumber(Math.floor(microseconds / HIGH), HIGH_DIGITS);
    this.writeNumber(microseconds % HIGH, LOW_DIGITS);
  }
}

/** A number as {@link TextBytes.writeNumber} wrote it. */
export function numberIn(text: string): number {
  let value = 0;
  for (let at = 0; at < text.length; at += 1) value = value * 64 + text.charCodeAt(at) - ZERO;
  return value;
}

/** A time as {@link LineWriter.time} wrote it. */
export function timeIn(text: string): number {
  return numberIn(text) / 1000;
}
