import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { setQuery } from "../app/route.ts";
import type { WireMessage } from "../data/operator-types.ts";
import type { LogRow } from "../data/task-types.ts";
import { Icon, type IconName } from "../parts/icon.tsx";
import { STATE_WORDS, StateMark } from "../parts/state-mark.tsx";
import { bytes, clock, count, duration, exact, plural } from "../text/format.ts";
import { CalledAgent } from "./called-agent.tsx";
import { type Happening, seqOf } from "./happenings.ts";
import { wordsOf } from "./journal-words.ts";
import { VirtualList } from "./virtual-list.tsx";

export interface EventListProps {
  readonly items: readonly Happening[];
  readonly at: number | undefined;
  /** The time of the event `at`. */
  readonly atTime: number;
  readonly owner: string;
  readonly follows: boolean;
  readonly onFollow: (follows: boolean) => void;
}

/** What happened, line by line. Chunks of an artifact in a row are one line. Only the lines in sight are in the page. */
export function EventList({ items, at, atTime, owner, follows, onFollow }: EventListProps): JSX.Element {
  const current = useMemo(
    () => (at === undefined ? undefined : items.findIndex((item) => (seqOf(item) ?? 0) >= at)),
    [items, at],
  );
  const isLater = (item: Happening): boolean => {
    if (at === undefined) return false;
    if (item.kind === "row") return item.row.first > at;
    return item.kind === "message" ? item.after > at : item.at > atTime;
  };
  return (
    <VirtualList
      label="Events"
      count={items.length}
      follows={follows && at === undefined}
      onFollow={onFollow}
      show={current === -1 ? undefined : current}
      row={(index) => {
        const item = items[index];
        if (item === undefined) return <div key={index} class="event" role="listitem" />;
        const classes = ["event", item.kind, isLater(item) ? "later" : "", index === current ? "current" : ""];
        return (
          <div key={item.key} class={classes.filter(Boolean).join(" ")} role="listitem">
            <HappeningLine item={item} owner={owner} />
          </div>
        );
      }}
    />
  );
}

function HappeningLine({ item, owner }: { readonly item: Happening; readonly owner: string }): JSX.Element {
  switch (item.kind) {
    case "chapter":
      return (
        <>
          <strong>{item.title}</strong>
          <span class="soft cut">{item.note}</span>
        </>
      );
    case "row":
      return <LogLine row={item.row} />;
    case "message":
      return (
        <>
          <SeqButton first={item.after} last={item.after} />
          <span class="time" />
          <Icon name="person" />
          <span class="cut">
            <strong>{answererOf(item.message, owner)}</strong> wrote: {textOf(item.message)}
          </span>
        </>
      );
    case "entry":
      return <EntryLine item={item} />;
    default:
      return (
        <>
          <span class="seq" />
          <span class="time" title={exact(item.at)}>
            {clock(item.at)}
          </span>
          <Icon name={item.kind === "crash" ? "bolt" : "wait"} />
          <span class="cut">{item.text}</span>
        </>
      );
  }
}

function EntryLine({ item }: { readonly item: Extract<Happening, { readonly kind: "entry" }> }): JSX.Element {
  const { entry, ms } = item;
  const icon: IconName = entry.kind === "child" ? "child" : entry.kind === "delivery" ? "webhooks" : "step";
  const isBad = entry.outcome !== undefined && !["completed", "delivered"].includes(entry.outcome);
  return (
    <>
      <span class="seq" />
      <span class="time" title={exact(entry.start)}>
        {clock(entry.start)}
      </span>
      <Icon name={icon} />
      <span class={isBad ? "cut bad" : "cut"} title={entry.reason}>
        {entry.called !== undefined ? (
          <>
            Called <CalledAgent called={entry.called} />
          </>
        ) : entry.kind === "delivery" ? (
          `Webhook ${entry.outcome ?? "open"}, ${plural(entry.count ?? 0, "request")}`
        ) : (
          wordsOf(entry)
        )}
        {isBad && entry.kind !== "delivery" && `: ${entry.outcome}`}
        {entry.reason !== undefined && <span class="soft">: {entry.reason}</span>}
      </span>
      <span class="took">{entry.end === undefined ? "goes on" : duration(ms)}</span>
    </>
  );
}

/** A line of the log itself. */
export function LogLine({ row }: { readonly row: LogRow }): JSX.Element {
  return (
    <>
      <SeqButton first={row.first} last={row.last} />
      <span class="time" title={row.at === undefined ? undefined : exact(row.at)}>
        {row.at === undefined ? "" : clock(row.at)}
      </span>
      {row.kind === "status" && row.state !== undefined ? (
        <>
          <StateMark state={row.state} bare />
          <span class="cut">
            {row.state === "input-required" && row.text !== "" ? "Asked" : (STATE_WORDS[row.state] ?? row.state)}
            {row.text !== "" && <span class="soft">: {row.text}</span>}
          </span>
        </>
      ) : (
        <>
          <Icon name="file" />
          <span class="cut">
            <span class="mono">{row.text}</span>{" "}
            <span class="soft">
              {plural(row.chunks ?? 1, "chunk")}, {bytes(row.characters ?? 0)}
            </span>
          </span>
        </>
      )}
    </>
  );
}

function SeqButton({ first, last }: { readonly first: number; readonly last: number }): JSX.Element {
  return (
    <button
      type="button"
      class="seq"
      data-first={first}
      data-last={last}
      title={`Show the task as of event ${last}`}
      onClick={() => setQuery({ at: String(last) })}
    >
      {first === last ? count(first) : `${count(first)}–${count(last)}`}
    </button>
  );
}

function answererOf({ metadata }: WireMessage, owner: string): string {
  const by = metadata?.["answeredBy"];
  return typeof by === "string" ? by : owner;
}

function textOf({ parts = [] }: WireMessage): string {
  return parts
    .map(({ text, data, filename }) => text ?? (data === undefined ? (filename ?? "a file") : JSON.stringify(data)))
    .join(" ");
}
