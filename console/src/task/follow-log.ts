import { useEffect, useRef, useState } from "preact/hooks";
import { onNextTry } from "../data/connection.ts";
import { ApiError, operatorApi } from "../data/operator-api.ts";
import type { LogEvent } from "../data/operator-types.ts";
import { addRows, type LogRow } from "./task-log.ts";

/** The log of a task as far as it was read. */
export interface FollowedLog {
  readonly events: readonly LogEvent[];
  readonly rows: readonly LogRow[];
  readonly lastSeq: number;
  /** The first event that still exists; earlier ones were deleted. */
  readonly firstSeq: number;
  /** Everything was read, and nothing follows. */
  readonly isComplete: boolean;
  readonly error: ApiError | undefined;
}

const EMPTY: FollowedLog = { events: [], rows: [], lastSeq: 0, firstSeq: 1, isComplete: false, error: undefined };
/** Seconds for which the server waits for the next event. */
const WAIT = 25;

/** Reads the log of a task, and then each new event. After a lost connection it goes on after the last event that it has. */
export function useLog(key: string): FollowedLog {
  const [log, setLog] = useState<FollowedLog>(EMPTY);
  const events = useRef<LogEvent[]>([]);
  useEffect(() => {
    const abort = new AbortController();
    let cancelTry: (() => void) | undefined;
    events.current = [];
    setLog(EMPTY);
    const read = async (): Promise<void> => {
      let rows: readonly LogRow[] = addRows([], events.current);
      try {
        for (;;) {
          const after = events.current.at(-1)?.seq ?? 0;
          const page = await operatorApi.events(key, { after, wait: after === 0 ? 0 : WAIT }, abort.signal);
          events.current.push(...page.events);
          rows = addRows(rows, page.events);
          const { lastSeq, firstSeq } = page;
          const isComplete = page.ended && (events.current.at(-1)?.seq ?? 0) >= lastSeq;
          setLog({ events: events.current, rows, lastSeq, firstSeq, isComplete, error: undefined });
          if (isComplete) return;
          // Nothing yet: the task waits to begin.
          if (after === 0 && page.events.length === 0) await new Promise((resolve) => setTimeout(resolve, 500));
        }
      } catch (error) {
        if (abort.signal.aborted) return;
        const failure = error instanceof ApiError ? error : new ApiError(String(error), 0, key);
        setLog((before) => ({ ...before, error: failure }));
        if (failure.status === 0) cancelTry = onNextTry(() => void read());
      }
    };
    void read();
    return () => {
      abort.abort();
      cancelTry?.();
    };
  }, [key]);
  return log;
}
