import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { operatorApi } from "../data/operator-api.ts";
import type { LogRow } from "../data/task-types.ts";
import { LogLine } from "./event-list.tsx";
import { addRows } from "./task-log.ts";
import { VirtualList } from "./virtual-list.tsx";

export interface SeqListProps {
  readonly taskKey: string;
  readonly firstSeq: number;
  readonly lastSeq: number;
  /** The first events, as far as they are known. */
  readonly firstRows?: readonly LogRow[] | undefined;
  readonly at: number | undefined;
  readonly follows: boolean;
  readonly onFollow: (follows: boolean) => void;
}

/** Events that are read at a time, and how many such pages are kept. */
const PAGE = 200;
const MOST_PAGES = 30;

/** Every event of a log with very many lines, read by seq around what is in sight. */
export function SeqList(props: SeqListProps): JSX.Element {
  const { taskKey, firstSeq, lastSeq, firstRows = [], at, follows, onFollow } = props;
  const pages = useRef(new Map<number, readonly LogRow[]>());
  if (pages.current.size === 0 && firstRows[0]?.first === firstSeq) pages.current.set(0, firstRows.slice(0, PAGE));
  const pending = useRef(new Set<number>());
  const [, setRead] = useState(0);
  const [range, setRange] = useState<readonly [number, number]>([0, 0]);
  const count = lastSeq - firstSeq + 1;
  useEffect(() => {
    const abort = new AbortController();
    // Only what one rests on is read; the first page at once.
    const timer = setTimeout(
      () => {
        const [from, to] = range;
        for (let page = Math.floor(from / PAGE); page * PAGE < to; page += 1) void read(page, abort.signal);
      },
      pages.current.size === 0 ? 0 : 60,
    );
    return () => {
      clearTimeout(timer);
      abort.abort();
      pending.current.clear();
    };
  }, [range, lastSeq]);
  async function read(page: number, signal: AbortSignal): Promise<void> {
    const known = pages.current.get(page);
    const expected = Math.min(PAGE, count - page * PAGE);
    if ((known?.length ?? 0) >= expected || pending.current.has(page)) return;
    pending.current.add(page);
    try {
      const after = firstSeq - 1 + page * PAGE;
      const { events } = await operatorApi.events(taskKey, { after, limit: PAGE }, signal);
      pages.current.delete(page);
      pages.current.set(
        page,
        events.flatMap((event) => addRows([], [event])),
      );
      for (const [oldest] of pages.current) if (pages.current.size > MOST_PAGES) pages.current.delete(oldest);
      setRead((before) => before + 1);
    } catch {
      // Read again when one scrolls.
    } finally {
      pending.current.delete(page);
    }
  }
  return (
    <VirtualList
      label="Events"
      count={count}
      follows={follows && at === undefined}
      onFollow={onFollow}
      onRange={(from, to) => setRange([from, to])}
      show={at === undefined ? undefined : at - firstSeq}
      row={(index) => {
        const row = pages.current.get(Math.floor(index / PAGE))?.[index % PAGE];
        const seq = firstSeq + index;
        const classes = ["event", at !== undefined && seq > at ? "later" : "", seq === at ? "current" : ""];
        return (
          <div key={seq} class={classes.filter(Boolean).join(" ")} role="listitem">
            {row === undefined ? <span class="seq">{seq}</span> : <LogLine row={row} />}
          </div>
        );
      }}
    />
  );
}
