import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ago, exact } from "../text/format.ts";

/** The present time, new every `every` milliseconds while the page is visible. */
export function useNow(every: number = 1000): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) setNow(Date.now());
    }, every);
    return () => clearInterval(timer);
  }, [every]);
  return now;
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
