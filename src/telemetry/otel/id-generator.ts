import { randomSpanId, randomTraceId } from "../spans/span-ids.ts";

/** The id of the span that is started next. Set and read within one synchronous call. */
let next: string | undefined;

/** Makes spans of OpenTelemetry while `idGenerator` gives them this id. */
export function withSpanId<T>(spanId: string | undefined, start: () => T): T {
  next = spanId;
  try {
    return start();
  } finally {
    next = undefined;
  }
}

/**
 * Gives the spans of tasks ids that are derived from the work, so that an attempt that is repeated after a crash does not double them. All other
 * spans get random ids. Pass it to the OpenTelemetry SDK: `new TracerProvider({ idGenerator })`.
 */
export const idGenerator: { generateTraceId(): string; generateSpanId(): string } = {
  generateTraceId: randomTraceId,
  generateSpanId: () => {
    const id = next ?? randomSpanId();
    next = undefined;
    return id;
  },
};
