import { useEffect, useRef, useState } from "preact/hooks";
import { onNextTry } from "../data/connection.ts";
import { readOutline } from "../data/first-outline.ts";
import { ApiError, operatorApi } from "../data/operator-api.ts";
import type { JournalEntry, TaskRow } from "../data/operator-types.ts";
import type { LogOutline, OutlineAnswer } from "../data/task-types.ts";
import { addEvents, isEndState } from "./task-log.ts";

/** A task as far as it was read. */
export interface FollowedTask {
  readonly task: TaskRow | undefined;
  readonly journal: readonly JournalEntry[];
  readonly log: LogOutline | undefined;
  readonly error: ApiError | undefined;
}

const EMPTY: FollowedTask = { task: undefined, journal: [], log: undefined, error: undefined };
/** Seconds for which the server waits for the next event. */
const WAIT = 25;
/** Milliseconds between two requests for events, so that many events come in one answer. */
const PAUSE = 120;
/** Milliseconds before a server that cannot answer now is asked again. */
const BUSY_PAUSE = 1000;
/** Milliseconds for which a frame is drawn, also on a slow machine. */
const DRAWING = 100;
/** Milliseconds between two requests for the journal of a task that goes on. */
const JOURNAL_EVERY = 2000;

/** Reads a task, and then each new event. After a lost connection it goes on after the last event that it has. */
export function useTask(key: string): FollowedTask {
  const [state, setState] = useState<FollowedTask>(EMPTY);
  const latest = useRef<LogOutline>(undefined);
  useEffect(() => {
    const abort = new AbortController();
    const { signal } = abort;
    const cancels: (() => void)[] = [];
    latest.current = undefined;
    let hadEnded = false;
    setState(EMPTY);
    const set = (change: Partial<FollowedTask>): void => {
      if (!signal.aborted) setState((before) => ({ ...before, ...change }));
    };
    /** Runs again at the next try if there was no answer. */
    const keepTrying = async (work: () => Promise<void>): Promise<void> => {
      try {
        await work();
      } catch (thrown) {
        if (signal.aborted) return;
        const error = thrown instanceof ApiError ? thrown : new ApiError(String(thrown), 1, key);
        set({ error });
        if (error.status === 0) cancels.push(onNextTry(() => void keepTrying(work)));
        // The server is starting, or has too much to do.
        else if (error.status >= 500 || error.status === 429)
          await pause(BUSY_PAUSE, signal).then(
            () => keepTrying(work),
            () => undefined,
          );
      }
    };
    const take = ({ task, journal, log }: OutlineAnswer): void => {
      latest.current = log;
      hadEnded = isEndState(task.state);
      set({ task, journal, log, error: undefined });
    };
    const readLog = async (): Promise<void> => {
      if (latest.current === undefined) take(await readOutline(key, signal));
      if (latest.current?.readTo !== undefined) {
        // The server and the browser may share their processors: first the picture, then the rest of the log.
        await drawn(signal);
        take(await operatorApi.outline(key, {}, signal));
      }
      // The journal was read before the log: it is complete if the task had ended by then.
      if (latest.current?.ended === true && hadEnded) return;
      while (latest.current !== undefined && !latest.current.ended) {
        const after = latest.current.lastSeq;
        const { events, ended, lastSeq } = await operatorApi.events(key, { after, wait: WAIT }, signal);
        const isLast = ended && (events.at(-1)?.seq ?? after) >= lastSeq;
        if (events.length > 0 || isLast) {
          latest.current = addEvents(latest.current, events, isLast);
          set({ log: latest.current, error: undefined });
        } else set({ error: undefined });
        await pause(PAUSE, signal);
      }
      await readJournal();
    };
    const readJournal = async (): Promise<void> => {
      const { task, journal } = await operatorApi.outline(key, { log: "false" }, signal);
      set({ task, journal });
    };
    const refresh = async (): Promise<void> => {
      for (;;) {
        await pause(JOURNAL_EVERY, signal);
        if (latest.current?.ended === true) return;
        if (!document.hidden && latest.current !== undefined) await readJournal();
      }
    };
    void keepTrying(readLog);
    void keepTrying(refresh);
    return () => {
      abort.abort();
      for (const cancel of cancels) cancel();
    };
  }, [key]);
  return state;
}

/** Resolves when the page has drawn what was set before. Pages in the background draw nothing. */
async function drawn(signal: AbortSignal): Promise<void> {
  if (!document.hidden) await new Promise((resolve) => requestAnimationFrame(resolve));
  await pause(DRAWING, signal);
}

/** Rejects if the signal aborts meanwhile. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => (signal.aborted ? reject(signal.reason) : resolve()), ms);
    signal.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });
}
