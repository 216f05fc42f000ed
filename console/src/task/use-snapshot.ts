import { useEffect, useRef, useState } from "preact/hooks";
import { operatorApi } from "../data/operator-api.ts";
import type { SnapshotAnswer } from "../data/task-types.ts";

/** Milliseconds for which one must rest at a moment before it is read. */
const REST = 80;
/** Moments that are kept. */
const MOST = 20;

/** The state and the artifacts of a task as of an event. `undefined`: not read yet, or the present. The last one stays until the next is there. */
export function useSnapshot(key: string, at: number | undefined): SnapshotAnswer | undefined {
  const kept = useRef(new Map<number, SnapshotAnswer>());
  const [shown, setShown] = useState<SnapshotAnswer>();
  useEffect(() => {
    if (at === undefined) {
      setShown(undefined);
      return;
    }
    const known = kept.current.get(at);
    if (known !== undefined) {
      setShown(known);
      return;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => {
      operatorApi.snapshot(key, at, abort.signal).then(
        (snapshot) => {
          kept.current.set(at, snapshot);
          for (const [oldest] of kept.current) if (kept.current.size > MOST) kept.current.delete(oldest);
          setShown(snapshot);
        },
        () => undefined,
      );
    }, REST);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [key, at]);
  return shown;
}
