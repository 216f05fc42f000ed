import type { AttemptSpan, Span, Telemetry } from "./contract.ts";

/** One observer made of several. Where several have spans, work inside belongs to the span of the first. `undefined` if there is none. */
export function combineTelemetry(all: readonly (Telemetry | undefined)[]): Telemetry | undefined {
  const present = all.filter((each) => each !== undefined);
  if (present.length < 2) return present[0];
  const observers = (name: keyof Telemetry): boolean => present.some((each) => each[name] !== undefined);
  return {
    ...(observers("call") && { call: (start) => together(present.map((each) => each.call?.(start))) }),
    ...(observers("attempt") && { attempt: (start) => attempts(present.map((each) => each.attempt?.(start))) }),
    ...(observers("step") && { step: (start) => together(present.map((each) => each.step?.(start))) }),
    ...(observers("wait") && { wait: (start) => together(present.map((each) => each.wait?.(start))) }),
    ...(observers("delivery") && { delivery: (start) => together(present.map((each) => each.delivery?.(start))) }),
    ...(observers("request") && { request: (start) => together(present.map((each) => each.request?.(start))) }),
    ...(observers("commit") && {
      commit: (report) => {
        for (const each of present) each.commit?.(report);
      },
    }),
  };
}

function together<End>(spans: readonly (Span<End> | undefined)[]): Span<End> | undefined {
  const [first, ...others] = spans.filter((span) => span !== undefined);
  if (first === undefined || others.length === 0) return first;
  return {
    get trace() {
      return first.trace;
    },
    end(end) {
      first.end(end);
      for (const span of others) span.end(end);
    },
  };
}

function attempts(spans: readonly (AttemptSpan | undefined)[]): AttemptSpan | undefined {
  const present = spans.filter((span) => span !== undefined);
  const span = together(present);
  if (span === undefined || present.length === 1) return present[0];
  return {
    get trace() {
      return span.trace;
    },
    end: (end) => span.end(end),
    event(seq, state) {
      for (const each of present) each.event(seq, state);
    },
  };
}
