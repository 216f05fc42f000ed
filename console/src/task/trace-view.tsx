import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import { href } from "../app/place.ts";
import { operatorApi } from "../data/operator-api.ts";
import { usePolled } from "../data/polled.ts";
import type { TraceAnswer } from "../data/task-types.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { CopyButton } from "../parts/controls.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { Failure, Loading, Notice } from "../parts/notice.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { agentName } from "../tasks/task-rows.tsx";
import { count, duration, exact, plural, shortId } from "../text/format.ts";
import { axisTime, foldClass, percent } from "./time-line.tsx";
import { positionOf, type ScalePiece, ticksOf, timeScale } from "./time-scale.ts";
import { linesOf, type TraceLine, traceSpans } from "./trace-lines.ts";
import { ROW, VirtualList } from "./virtual-list.tsx";

const ICONS: Readonly<Record<string, IconName>> = {
  attempt: "again",
  step: "step",
  question: "question",
  wait: "wait",
  delivery: "webhooks",
  child: "child",
};

/** The waterfall of a task and of the tasks below it. */
export function TraceView({ taskKey, isEnded }: { readonly taskKey: string; readonly isEnded: boolean }): JSX.Element {
  const { value, error, reload } = usePolled({
    key: `trace ${taskKey} ${isEnded}`,
    every: isEnded ? undefined : 2000,
    load: (signal) => operatorApi.trace(taskKey, signal),
  });
  if (value === undefined)
    return error === undefined ? <Loading rows={8} /> : <Failure what="The trace" error={error} retry={reload} />;
  return <Waterfall trace={value} />;
}

function Waterfall({ trace }: { readonly trace: TraceAnswer }): JSX.Element {
  const now = Date.parse(trace.now);
  const lines = useMemo(() => linesOf(trace), [trace]);
  const pieces = useMemo(() => timeScale(traceSpans(lines, now)), [lines, now]);
  const [chosen, setChosen] = useState<string>();
  const selected = lines.find(({ key }) => key === chosen);
  const slowest = lines
    .filter(({ kind }) => kind === "step" || kind === "task")
    .toSorted((a, b) => lengthOf(b, now) - lengthOf(a, now))
    .find(({ depth }) => depth > 0);
  return (
    <section class="trace" aria-label="Trace">
      <dl class="facts">
        <div>
          <dt>Trace</dt>
          <dd>
            <span class="mono">{shortId(trace.traceId)}</span>
            <CopyButton text={trace.traceId} />
          </dd>
        </div>
        <div>
          <dt>Spans</dt>
          <dd>
            {count(lines.length)} <small>{plural(trace.tasks.length, "task")}</small>
          </dd>
        </div>
        {slowest !== undefined && (
          <div>
            <dt>Slowest</dt>
            <dd>
              {slowest.label} <small>{duration(lengthOf(slowest, now))}</small>
            </dd>
          </div>
        )}
        <div>
          <dt>Made from</dt>
          <dd>
            <small>the stored journal, also while tracing is off</small>
          </dd>
        </div>
      </dl>
      {trace.hasMore && <Notice kind="warn">There is more below this task than is shown here.</Notice>}
      <div class="trace-head">
        <span>Span</span>
        <TraceAxis pieces={pieces} />
        <span class="num">Took</span>
      </div>
      <div class="trace-rows" style={{ blockSize: `${Math.min(lines.length, 18) * ROW + 2}px` }}>
        <VirtualList
          label="Spans"
          count={lines.length}
          follows={false}
          onFollow={() => {}}
          row={(index) => {
            const line = lines[index];
            if (line === undefined) return <div key={index} role="listitem" />;
            return (
              <div key={line.key} role="listitem" class={line.key === chosen ? "trace-line chosen" : "trace-line"}>
                <TraceLineView
                  line={line}
                  pieces={pieces}
                  now={now}
                  onChoose={() => setChosen(line.key === chosen ? undefined : line.key)}
                />
              </div>
            );
          }}
        />
      </div>
      {selected !== undefined && <SpanDetails line={selected} now={now} start={lines[0]?.start ?? 0} />}
    </section>
  );
}

function lengthOf({ start, end }: TraceLine, now: number): number {
  return (end ?? now) - start;
}

function TraceAxis({ pieces }: { readonly pieces: readonly ScalePiece[] }): JSX.Element {
  const folds = pieces.filter(({ isFold }) => isFold);
  const isFree = (position: number): boolean =>
    position < 0.9 && !folds.some(({ from, to }) => position > from - 0.1 && position < to);
  return (
    <span class="trace-axis" aria-hidden="true">
      {ticksOf(pieces)
        .filter(({ position }) => isFree(position))
        .map(({ at, position }) => (
          <span key={position} style={{ insetInlineStart: percent(position) }}>
            {axisTime(at, pieces)}
          </span>
        ))}
      {folds.map(({ from, to, start, end }) => (
        <span
          key={from}
          class={foldClass(to)}
          style={{ insetInlineStart: percent(from), inlineSize: percent(to - from) }}
        >
          {duration(end - start)}
        </span>
      ))}
    </span>
  );
}

interface TraceLineProps {
  readonly line: TraceLine;
  readonly pieces: readonly ScalePiece[];
  readonly now: number;
  readonly onChoose: () => void;
}

function TraceLineView({ line, pieces, now, onChoose }: TraceLineProps): JSX.Element {
  const { label, depth, outcome, state } = line;
  const isCrashed = outcome === "crashed";
  return (
    <button type="button" onClick={onChoose}>
      <span class="span-name" style={{ "--depth": depth }}>
        {state === undefined ? <Icon name={ICONS[line.kind] ?? "step"} /> : <StateMark state={state} bare />}
        <span class="cut">{line.kind === "task" ? agentName(label) : label}</span>
        {isCrashed && <span class="chip bad">crashed</span>}
        {outcome === "failed" && <span class="chip bad">failed</span>}
      </span>
      <span class="track">
        {pieces
          .filter(({ isFold }) => isFold)
          .map(({ from, to }) => (
            <i key={from} class="fold" style={{ insetInlineStart: percent(from), inlineSize: percent(to - from) }} />
          ))}
        {line.spans.map(({ start, end }) => {
          const [from, to] = [positionOf(pieces, start), positionOf(pieces, end ?? now)];
          return (
            <i
              key={start}
              class={`span-bar ${line.kind} ${outcome}`}
              style={{ insetInlineStart: percent(from), inlineSize: `max(3px, ${percent(to - from)})` }}
            />
          );
        })}
      </span>
      <span class="num">{duration(lengthOf(line, now))}</span>
    </button>
  );
}

function SpanDetails({
  line,
  now,
  start,
}: {
  readonly line: TraceLine;
  readonly now: number;
  readonly start: number;
}): JSX.Element {
  const { span, taskKey, agent, outcome } = line;
  return (
    <aside class="span-details" aria-label="The chosen span">
      <h3>
        <AgentFlag id={agent} /> {line.kind === "task" ? agentName(line.label) : line.label}{" "}
        {line.kind === "task" && (
          <a class="link" href={href(`tasks/${encodeURIComponent(taskKey)}`)}>
            Open the task
          </a>
        )}
      </h3>
      <dl class="facts">
        <div>
          <dt>Began</dt>
          <dd title={exact(line.start)}>{duration(line.start - start)} after the start</dd>
        </div>
        <div>
          <dt>Took</dt>
          <dd>{duration(lengthOf(line, now))}</dd>
        </div>
        <div>
          <dt>Ended</dt>
          <dd>{line.end === undefined ? "goes on" : outcome}</dd>
        </div>
        {span !== undefined && (
          <>
            <div>
              <dt>Span</dt>
              <dd class="mono">
                {span.name} {span.id}
              </dd>
            </div>
            {Object.entries(span.attributes)
              .filter(([, value]) => ["string", "number", "boolean"].includes(typeof value))
              .map(([name, value]) => (
                <div key={name}>
                  <dt>{name}</dt>
                  <dd>{String(value)}</dd>
                </div>
              ))}
          </>
        )}
      </dl>
    </aside>
  );
}
