import { type ReadonlySignal, signal } from "@preact/signals";
import type { JSX } from "preact";
import { ago, exact } from "../text/format.ts";

/** One clock per interval for the whole page, so that many rows need one timer. */
const clocks = new Map<number, ReadonlySignal<number>>();

function clockOf(every: number): ReadonlySignal<number> {
  const known = clocks.get(every);
  if (known !== undefined) return known;
  const clock = signal(Date.now());
  setInterval(() => {
    if (!document.hidden) clock.value = Date.now();
  }, every);
  clocks.set(every, clock);
  return clock;
}

/** The present time, new every `every` milliseconds while the page is visible. */
export function useNow(every: number = 1000): number {
  return clockOf(every).value;
}

/** How long ago something was; the exact time is in the title. */
export function Moment({ at }: { readonly at: string | number }): JSX.Element {
  const now = useNow();
  const time = typeof at === "number" ? at : Date.parse(at);
  return (
    <time dateTime={new Date(time).toISOString()} title={exact(time)}>
      {ago(time, now)}
    </time>
  );
}
