import type { JSX } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";

/** Pixels of a row; all have the same height, so that only those in sight are drawn. */
export const ROW = 30;
const MARGIN = 12;
/** Browsers limit the height of elements. */
const MOST_PIXELS = 12_000_000;

export interface VirtualListProps {
  readonly label: string;
  readonly count: number;
  readonly row: (index: number) => JSX.Element;
  /** The list stays at its end while it grows. */
  readonly follows: boolean;
  /** One has scrolled away from the end (`false`), or back to it. */
  readonly onFollow: (follows: boolean) => void;
  /** Rows that are drawn. */
  readonly onRange?: (from: number, to: number) => void;
  /** A row that should be in sight. */
  readonly show?: number | undefined;
}

/** A list of any length: only the rows in sight are in the page. */
export function VirtualList(props: VirtualListProps): JSX.Element {
  const { label, count, row, follows, onFollow, onRange, show } = props;
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(480);
  const scale = Math.max(1, (count * ROW) / MOST_PIXELS);
  const size = Math.min(count * ROW, MOST_PIXELS);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  useLayoutEffect(() => {
    const element = list.current;
    if (element === null || !follows) return;
    element.scrollTop = element.scrollHeight;
    setTop(element.scrollTop);
  }, [count, follows, height]);
  useEffect(() => {
    const element = list.current;
    if (element === null || show === undefined) return;
    const at = (show * ROW) / scale;
    if (at < element.scrollTop || at > element.scrollTop + element.clientHeight - ROW)
      element.scrollTop = Math.max(0, at - element.clientHeight / 2);
  }, [show]);
  const onScroll = (): void => {
    const element = list.current;
    if (element === null) return;
    setTop(element.scrollTop);
    const isAtEnd = element.scrollHeight - element.scrollTop - element.clientHeight < ROW;
    if (isAtEnd !== follows) onFollow(isAtEnd);
  };
  const seen = Math.floor((top * scale) / ROW);
  const from = Math.max(0, Math.min(seen, count - 1) - MARGIN);
  const to = Math.min(count, seen + Math.ceil(height / ROW) + MARGIN);
  useEffect(() => onRange?.(from, to), [from, to]);
  const offset = scale === 1 ? from * ROW : Math.max(0, top - (seen - from) * ROW);
  const rows: JSX.Element[] = [];
  for (let index = from; index < to; index += 1) rows.push(row(index));
  return (
    <div ref={list} class="events" tabIndex={0} role="region" aria-label={label} onScroll={onScroll}>
      <div class="whole" style={{ blockSize: `${size}px` }}>
        <div class="shown" role="list" style={{ transform: `translateY(${offset}px)` }}>
          {rows}
        </div>
      </div>
    </div>
  );
}
