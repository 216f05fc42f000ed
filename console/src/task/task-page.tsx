import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Page } from "../app/frame.tsx";
import { href } from "../app/place.ts";
import { navigate, route, setQuery } from "../app/route.ts";
import { isTyping } from "../app/shortcuts.ts";
import { operatorApi } from "../data/operator-api.ts";
import type { JournalEntry, TaskRow } from "../data/operator-types.ts";
import { usePolled } from "../data/polled.ts";
import type { LogOutline } from "../data/task-types.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Button, Choice } from "../parts/controls.tsx";
import { useNow } from "../parts/moment.tsx";
import { Failure, Loading, Notice } from "../parts/notice.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { count, exact, shortId } from "../text/format.ts";
import { ArtifactPanel } from "./artifact-panel.tsx";
import { EventList } from "./event-list.tsx";
import { useTask } from "./follow-task.ts";
import { happeningsOf, isImportant } from "./happenings.ts";
import { JournalTable } from "./journal-table.tsx";
import { attemptsOf } from "./journal-times.ts";
import { MessageList } from "./message-list.tsx";
import { SeqList } from "./seq-list.tsx";
import { SeqTimes } from "./seq-times.ts";
import { runAgainUrl, TaskActions } from "./task-actions.tsx";
import { TaskFacts } from "./task-facts.tsx";
import { TimeLine } from "./time-line.tsx";
import { TraceView } from "./trace-view.tsx";
import { useSnapshot } from "./use-snapshot.ts";

const VIEWS = [
  ["events", "Time line"],
  ["trace", "Trace"],
  ["messages", "Messages"],
  ["journal", "Journal"],
] as const;

/** One task: what it did and when, its events, and its artifacts as of any of them. */
export function TaskPage({ id }: { readonly id: string }): JSX.Element {
  const { task, journal, log, error } = useTask(id);
  const [round, setRound] = useState(0);
  if (task === undefined || log === undefined)
    return (
      <Page title="Task">
        <div class="content" key={round}>
          {error === undefined || error.status === 0 ? (
            <Loading rows={10} />
          ) : (
            <Failure what="The task" error={error} retry={() => setRound(round + 1)} />
          )}
        </div>
      </Page>
    );
  return <TaskView task={task} journal={journal} log={log} />;
}

interface TaskViewProps {
  readonly task: TaskRow;
  readonly journal: readonly JournalEntry[];
  readonly log: LogOutline;
}

function TaskView({ task, journal, log }: TaskViewProps): JSX.Element {
  const { query } = route.value;
  const view = VIEWS.find(([name]) => name === query.get("view"))?.[0] ?? "events";
  const [follows, setFollows] = useState(!log.ended);
  // What has ended does not change.
  const present = useNow(log.ended ? 3_600_000 : 1000);
  const end = log.ended ? Math.max(Date.parse(task.statusAt), log.times.at(-1)?.at ?? 0) : present;
  const start = Date.parse(task.createdAt);
  const times = useMemo(() => {
    const active = attemptsOf(journal, end);
    return new SeqTimes({ known: log.times, start, end: { seq: log.lastSeq, at: end }, active });
  }, [log.times, log.lastSeq, start, end, journal]);
  const asked = Number(query.get("at") ?? Number.NaN);
  const at = Number.isInteger(asked) && asked >= log.firstSeq && asked < log.lastSeq ? asked : undefined;
  const snapshot = useSnapshot(task.key, at);
  const isPast = at !== undefined;
  const { value: details } = usePolled({
    key: `messages ${task.key} ${log.ended} ${task.state}`,
    load: (signal) => operatorApi.task(task.key, { journal: "false" }, signal),
  });
  const history = details?.history ?? [];
  const title = task.text || `Task ${shortId(task.id)}`;
  const onMoment = (seq: number | undefined, isFinal: boolean): void => {
    // While one drags, the address is replaced; the moment that one chose is an entry in the history.
    setQuery({ at: seq === undefined ? undefined : String(seq) }, !isFinal);
  };
  useMomentKeys({ task, journal, log, times, at, onMoment, onFollow: () => setFollows(true) });
  return (
    <Page
      title={title}
      heading={
        <>
          <a class="wide-only" href={href("tasks")}>
            Tasks
          </a>
          <span class="slash wide-only">/</span>
          <AgentFlag id={task.agent} />
          <span class="cut">{title}</span>
          <StateMark state={isPast ? (snapshot?.state ?? task.state) : task.state} />
        </>
      }
      actions={<TaskActions task={task} isEnded={log.ended} />}
    >
      {isPast && (
        <div class="past" role="status">
          <p>
            <strong>Event {count(at)}</strong> of {count(log.lastSeq)}, {exact(times.timeOf(at))}. You see the task as
            it was then.
          </p>
          <Button hint="Escape" onClick={() => onMoment(undefined, true)}>
            Back to now
          </Button>
        </div>
      )}
      <div class="content">
        <TaskFacts task={task} journal={journal} log={log} now={end} />
        {log.firstSeq > 1 && (
          <Notice kind="warn">The log begins at event {count(log.firstSeq)}; earlier events were deleted.</Notice>
        )}
        {view === "events" && log.lastSeq > 0 && (
          <TimeLine journal={journal} log={log} times={times} start={start} now={end} at={at} onMoment={onMoment} />
        )}
        <div class={view === "trace" ? "columns one" : "columns"}>
          <section aria-label="What happened">
            <div class="section-head">
              <Choice
                label="View"
                options={VIEWS}
                value={view}
                onChange={(next) => setQuery({ view: next === "events" ? undefined : next }, true)}
              />
              {view === "events" && log.rows !== undefined && (
                <Button
                  pressed={query.get("show") === "important"}
                  hint="States, questions, crashes, failures and agents called"
                  onClick={() => setQuery({ show: query.get("show") === "important" ? undefined : "important" }, true)}
                >
                  Important
                </Button>
              )}
              {view === "events" && !log.ended && (
                <Button icon="live" pressed={follows && !isPast} hint="Follow (.)" onClick={() => setFollows(!follows)}>
                  Following
                </Button>
              )}
            </div>
            {view === "events" && (
              <Events
                task={task}
                journal={journal}
                log={log}
                times={times}
                history={history}
                now={end}
                at={at}
                follows={follows}
                onFollow={setFollows}
              />
            )}
            {view === "trace" && <TraceView taskKey={task.key} isEnded={log.ended} />}
            {view === "journal" && <JournalTable journal={journal} now={end} />}
            {view === "messages" && details !== undefined && <MessageList answer={details} />}
          </section>
          {view !== "trace" && (
            <ArtifactPanel artifacts={isPast ? (snapshot?.artifacts ?? []) : log.artifacts} at={at} />
          )}
        </div>
      </div>
    </Page>
  );
}

interface EventsProps extends TaskViewProps {
  readonly times: SeqTimes;
  readonly history: Parameters<typeof happeningsOf>[0]["history"];
  readonly now: number;
  readonly at: number | undefined;
  readonly follows: boolean;
  readonly onFollow: (follows: boolean) => void;
}

/** Line by line, or, in a log with very many lines, event by event. */
function Events(props: EventsProps): JSX.Element {
  const { task, journal, log, times, history, now, at, follows, onFollow } = props;
  const { rows } = log;
  const isImportantOnly = route.value.query.get("show") === "important";
  const items = useMemo(() => {
    if (rows === undefined) return [];
    const all = happeningsOf({ rows, journal, history, times, now });
    return isImportantOnly ? all.filter(isImportant) : all;
  }, [rows, journal, history, times, now, isImportantOnly]);
  if (rows === undefined)
    return (
      <SeqList
        taskKey={task.key}
        firstSeq={log.firstSeq}
        lastSeq={log.lastSeq}
        firstRows={log.firstRows}
        at={at}
        follows={follows}
        onFollow={onFollow}
      />
    );
  return (
    <EventList
      items={items}
      at={at}
      atTime={at === undefined ? now : times.timeOf(at)}
      owner={task.owner}
      follows={follows}
      onFollow={onFollow}
    />
  );
}

interface MomentKeys extends TaskViewProps {
  readonly times: SeqTimes;
  readonly at: number | undefined;
  readonly onMoment: (seq: number | undefined, isFinal: boolean) => void;
  readonly onFollow: () => void;
}

/** `[` and `]` one event, with Shift one attempt, Home and End, Escape to the present, `.` follows, `R` runs again. */
function useMomentKeys(keys: MomentKeys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const { task, journal, log, times, at, onMoment, onFollow } = latest.current;
      const seq = at ?? log.lastSeq;
      const starts = attemptsOf(journal, Date.now()).map(({ start }) => Math.max(log.firstSeq, times.seqAt(start)));
      const moves: Readonly<Record<string, () => number | undefined>> = {
        "[": () => seq - 1,
        "]": () => seq + 1,
        "{": () => starts.findLast((each) => each < seq) ?? log.firstSeq,
        "}": () => starts.find((each) => each > seq),
        Home: () => log.firstSeq,
        End: () => undefined,
        Escape: () => undefined,
      };
      if (event.key === ".") {
        onMoment(undefined, true);
        onFollow();
      } else if (event.key === "r") navigate(runAgainUrl(task));
      const move = moves[event.key];
      if (move === undefined || (at === undefined && ["Escape", "End"].includes(event.key))) return;
      const next = move();
      onMoment(next === undefined || next >= log.lastSeq ? undefined : Math.max(log.firstSeq, next), true);
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
