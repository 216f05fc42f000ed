import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import { Page } from "../app/frame.tsx";
import { href } from "../app/place.ts";
import { route, setQuery } from "../app/route.ts";
import { operatorApi } from "../data/operator-api.ts";
import type { TaskAnswer } from "../data/operator-types.ts";
import { usePolled } from "../data/polled.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Button, Choice } from "../parts/controls.tsx";
import { useNow } from "../parts/moment.tsx";
import { Failure, Loading } from "../parts/notice.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { agentName } from "../tasks/task-rows.tsx";
import { shortId } from "../text/format.ts";
import { ArtifactPanel } from "./artifact-panel.tsx";
import { EventList } from "./event-list.tsx";
import { useLog } from "./follow-log.ts";
import { JournalTable } from "./journal-table.tsx";
import { MessageList } from "./message-list.tsx";
import { TaskActions } from "./task-actions.tsx";
import { TaskFacts } from "./task-facts.tsx";
import { momentAt } from "./task-log.ts";
import { TimeLine } from "./time-line.tsx";

const VIEWS = [
  ["events", "Events"],
  ["journal", "Journal"],
  ["messages", "Messages"],
] as const;

const ENDED = ["completed", "failed", "canceled", "rejected"];

/** One task: what it did and when, its events, and its artifacts as of any of them. */
export function TaskPage({ id }: { readonly id: string }): JSX.Element {
  const log = useLog(id);
  const { value, error, reload } = usePolled({
    key: `task ${id} ${log.isComplete}`,
    every: log.isComplete ? undefined : 2000,
    load: (signal) => operatorApi.task(id, signal),
  });
  const failure = error ?? log.error;
  if (value === undefined)
    return (
      <Page title="Task">
        <div class="content">
          {failure === undefined ? <Loading rows={10} /> : <Failure what="The task" error={failure} retry={reload} />}
        </div>
      </Page>
    );
  return <TaskView answer={value} log={log} />;
}

function TaskView({
  answer,
  log,
}: {
  readonly answer: TaskAnswer;
  readonly log: ReturnType<typeof useLog>;
}): JSX.Element {
  const { task, journal, history } = answer;
  const isEnded = ENDED.includes(task.state);
  const now = useNow();
  const { query } = route.value;
  const view = VIEWS.find(([name]) => name === query.get("view"))?.[0] ?? "events";
  const known = log.events.at(-1)?.seq ?? 0;
  const asked = Number(query.get("at") ?? Number.NaN);
  const at = Number.isInteger(asked) && asked > 0 && asked < known ? asked : undefined;
  const moment = useMemo(() => momentAt(log.events, at ?? Number.POSITIVE_INFINITY), [log, at]);
  const first = history[0]?.message.parts
    ?.map((part) => part.text ?? "")
    .join(" ")
    .trim();
  const title = first || `Task ${shortId(task.id)}`;
  const isPast = at !== undefined;
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
          <StateMark state={isPast ? moment.state : task.state} />
        </>
      }
      actions={<TaskActions task={task} message={history[0]?.message} isEnded={isEnded} />}
    >
      {isPast && (
        <div class="past" role="status">
          <p>
            <strong>Event {at}</strong> of {known}. You see the task as it was then.
          </p>
          <Button onClick={() => setQuery({ at: undefined }, true)}>Back to now</Button>
        </div>
      )}
      <div class="content">
        <TaskFacts
          answer={answer}
          log={log}
          now={isEnded ? Date.parse(task.statusAt) : now}
          agent={agentName(task.agent)}
        />
        <TimeLine journal={journal} now={isEnded ? Date.parse(task.statusAt) : now} />
        {known > 1 && (
          <div class="scrubber">
            <label for="moment">Moment</label>
            <input
              id="moment"
              type="range"
              min={log.firstSeq}
              max={known}
              value={at ?? known}
              aria-valuetext={`Event ${at ?? known} of ${known}`}
              onInput={(event) => {
                const seq = Number(event.currentTarget.value);
                setQuery({ at: seq >= known ? undefined : String(seq) }, true);
              }}
            />
            <output for="moment">{isPast ? `event ${at}` : log.isComplete || isEnded ? "end" : "now"}</output>
          </div>
        )}
        <div class="columns">
          <section aria-label="What happened">
            <div class="section-head">
              <Choice
                label="View"
                options={VIEWS}
                value={view}
                onChange={(next) => setQuery({ view: next === "events" ? undefined : next }, true)}
              />
              {!log.isComplete && !isEnded && <span class="following">Following</span>}
            </div>
            {view === "events" && <EventList log={log} at={at} />}
            {view === "journal" && <JournalTable journal={journal} now={now} />}
            {view === "messages" && <MessageList answer={answer} />}
          </section>
          <ArtifactPanel artifacts={moment.artifacts} at={at} />
        </div>
      </div>
    </Page>
  );
}
