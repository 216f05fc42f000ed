import type { TraceContext } from "../../protocol/trace-context.ts";

/** What a span of a task is about. */
export type SpanSubject = "attempt" | "step" | "question" | "wait" | "delivery" | "child";

/** Identifies a piece of work. The same work has the same identity in every process, and after a crash. */
export interface SpanIdentity {
  /** As callers know it. */
  readonly taskId: string;
  /** Absent for deliveries. */
  readonly turn?: number | undefined;
  readonly attempt: number;
  readonly kind: SpanSubject;
  /** Unique among the work of this kind in the attempt. */
  readonly key: string;
}

/** The id of the span of a piece of work: 16 hexadecimal digits, always the same for the same work. */
export function derivedSpanId({ taskId, turn = 0, attempt, kind, key }: SpanIdentity): string {
  // Most attempts are the first.
  const isFirst = kind === "attempt" && turn === 1 && attempt === 1 && key === "";
  return digest(taskId, isFirst ? FIRST_ATTEMPT : `\n${turn}\n${attempt}\n${kind}\n${key}`, 16);
}

const FIRST_ATTEMPT = "\n1\n1\nattempt\n";

/** The id of the span of a request: derived from the span that it is part of, and its number there, from 1 on. */
export function requestSpanId(parentSpanId: string, ordinal: number): string {
  return digest(parentSpanId, `\nrequest\n${ordinal}`, 16);
}

/** The trace of a task whose creator sent no trace context: 32 hexadecimal digits, always the same for the same task. */
export function derivedTraceId(taskId: string): string {
  return digest("trace\n", taskId, 32);
}

/** The context of work inside an attempt. `trace`: the context stored with the task. */
export function attemptContext(
  trace: TraceContext,
  { taskId, turn, attempt }: Pick<SpanIdentity, "taskId" | "turn" | "attempt">,
): TraceContext {
  return { ...trace, spanId: derivedSpanId({ taskId, turn, attempt, kind: "attempt", key: "" }) };
}

export function randomTraceId(): string {
  return randomSpanId() + randomSpanId();
}

export function randomSpanId(): string {
  return hexOf(randomLane() || 1, randomLane());
}

/** Random numbers are taken many at a time: one by one they cost more than the rest. */
const pool = new Uint32Array(1024);
let used = pool.length;

/** 32 random bits. */
function randomLane(): number {
  if (used === pool.length) {
    crypto.getRandomValues(pool);
    used = 0;
  }
  const lane = pool[used] ?? 0;
  used += 1;
  return lane;
}

/**
 * The first 16 or all 32 hexadecimal digits of 128 bits: four lanes of multiply and rotate, mixed at the end (as in MurmurHash3). Not for security: somebody who
 * chooses task ids could at most make two of his own spans look like one.
 */
function digest(text: string, rest: string, digits: 16 | 32): string {
  let [a, b, c, d] = [0x3c2d1e0f, 0x51ab73c9, 0x6e8f14d7, 0x7a40be65];
  for (const part of [text, rest]) {
    for (let i = 0; i < part.length; i++) {
      const unit = part.charCodeAt(i);
      a = b ^ Math.imul(a ^ unit, 0x23d7a3ab);
      b = c ^ Math.imul(b ^ unit, 0xa7d4e5c3);
      c = d ^ Math.imul(c ^ unit, 0x3c6ef373);
      d = a ^ Math.imul(d ^ unit, 0x9e3779b1);
    }
  }
  a = finish(a ^ (text.length + rest.length)) ^ b;
  b = finish(b ^ a);
  c = finish(c ^ b);
  d = finish(d ^ c);
  a = finish(a ^ d);
  if (a === 0 && b === 0) a = 0x10000000;
  return digits === 16 ? hexOf(a, b) : hexOf(a, b) + hexOf(c, d);
}

/** 64 bits as 16 hexadecimal digits, in one piece: V8 goes through every piece of a text whenever it is written. */
function hexOf(high: number, low: number): string {
  return String.fromCharCode(
    digit(high, 28),
    digit(high, 24),
    digit(high, 20),
    digit(high, 16),
    digit(high, 12),
    digit(high, 8),
    digit(high, 4),
    digit(high, 0),
    digit(low, 28),
    digit(low, 24),
    digit(low, 20),
    digit(low, 16),
    digit(low, 12),
    digit(low, 8),
    digit(low, 4),
    digit(low, 0),
  );
}

const DIGITS = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));

function digit(lane: number, shift: number): number {
  return DIGITS[(lane >>> shift) & 15] ?? 0;
}

function finish(lane: number): number {
  let mixed = Math.imul(lane ^ (lane >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return mixed ^ (mixed >>> 16);
}
