import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { setQuery } from "../app/route.ts";
import { Icon } from "../parts/icon.tsx";
import { Notice } from "../parts/notice.tsx";
import { STATE_WORDS, StateMark } from "../parts/state-mark.tsx";
import { bytes, clock, plural } from "../text/format.ts";
import type { FollowedLog } from "./follow-log.ts";
import type { LogRow } from "./task-log.ts";

/** Pixels of a row; all have the same height, so that only those in sight are drawn. */
const ROW = 32;
const MARGIN = 20;

/** The events of a task. Chunks of an artifact in a row are one line. Only the lines in sight are in the page. */
export function EventList({ log, at }: { readonly log: FollowedLog; readonly at: number | undefined }): JSX.Element {
  const { rows, firstSeq } = log;
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(480);
  const follows = useRef(true);
  useEffect(() => {
    const element = list.current;
    if (element === null) return;
    setHeight(element.clientHeight);
    if (follows.current && !log.isComplete) element.scrollTop = element.scrollHeight;
  }, [rows.length]);
  const onScroll = (): void => {
    const element = list.current;
    if (element === null) return;
    setTop(element.scrollTop);
    follows.current = element.scrollHeight - element.scrollTop - element.clientHeight < ROW;
  };
  const from = Math.max(0, Math.floor(top / ROW) - MARGIN);
  const shown = rows.slice(from, from + Math.ceil(height / ROW) + 2 * MARGIN);
  return (
    <>
      {firstSeq > 1 && <Notice kind="warn">The log begins at event {firstSeq}; earlier events were deleted.</Notice>}
      <div ref={list} class="events" tabIndex={0} role="list" aria-label="Events" onScroll={onScroll}>
        <div class="space" style={{ blockSize: `${from * ROW}px` }} />
        {shown.map((row) => (
          <EventRow key={row.first} row={row} isLater={at !== undefined && row.first > at} />
        ))}
        <div class="space" style={{ blockSize: `${Math.max(0, rows.length - from - shown.length) * ROW}px` }} />
      </div>
    </>
  );
}

function EventRow({ row, isLater }: { readonly row: LogRow; readonly isLater: boolean }): JSX.Element {
  const seqs = row.first === row.last ? `${row.first}` : `${row.first}–${row.last}`;
  return (
    <div role="listitem" class={isLater ? "event later" : "event"}>
      <button
        type="button"
        title={`Show the task as of event ${row.last}`}
        onClick={() => setQuery({ at: String(row.last) }, true)}
      >
        {seqs}
      </button>
      <span class="time">{row.at === undefined ? "" : clock(row.at)}</span>
      {row.kind === "status" && row.state !== undefined ? (
        <>
          <StateMark state={row.state} bare />
          <span class="cut">
            {STATE_WORDS[row.state] ?? row.state}
            {row.text !== "" && <span class="soft">: {row.text}</span>}
          </span>
        </>
      ) : (
        <>
          <Icon name="file" />
          <span class="cut">
            {row.text}{" "}
            <span class="soft">
              {plural(row.chunks, "chunk")}, {bytes(row.characters)}
            </span>
          </span>
        </>
      )}
    </div>
  );
}
