import type { ComponentChildren, JSX } from "preact";
import { href } from "../app/place.ts";
import type { JournalEntry, TaskRow } from "../data/operator-types.ts";
import type { LogOutline } from "../data/task-types.ts";
import { CopyButton } from "../parts/controls.tsx";
import { Moment } from "../parts/moment.tsx";
import { agentName } from "../tasks/task-rows.tsx";
import { bytes, count, duration, plural, shortId } from "../text/format.ts";
import { attemptsOf, workedFor } from "./journal-times.ts";

export interface TaskFactsProps {
  readonly task: TaskRow;
  readonly journal: readonly JournalEntry[];
  readonly log: LogOutline;
  readonly now: number;
}

/** The figures of a task in one line. */
export function TaskFacts({ task, journal, log, now }: TaskFactsProps): JSX.Element {
  const attempts = attemptsOf(journal, now);
  const crashes = attempts.filter(({ isCrashed }) => isCrashed).length;
  const written = log.written.reduce((sum, { characters }) => sum + characters, 0);
  return (
    <dl class="facts">
      <Fact name="Agent">
        <a href={href(`agents/${encodeURIComponent(task.agent)}`)}>{agentName(task.agent)}</a>
      </Fact>
      <Fact name="At work">
        {duration(workedFor(journal, now))} <small>of {duration(now - Date.parse(task.createdAt))}</small>
      </Fact>
      {attempts.length > 1 && (
        <Fact name="Attempts">
          {count(attempts.length)} {crashes > 0 && <small class="bad">{plural(crashes, "crash", "crashes")}</small>}
        </Fact>
      )}
      <Fact name="Events">
        {count(log.lastSeq)} {log.readTo !== undefined && <small>{count(log.readTo)} read so far</small>}
      </Fact>
      <Fact name="Written">
        {bytes(written)} {log.artifacts.length > 0 && <small>{plural(log.artifacts.length, "artifact")}</small>}
      </Fact>
      <Fact name="Caller">
        <a href={href(`tasks?owner=${encodeURIComponent(task.owner)}`)}>{task.owner}</a>
      </Fact>
      <Fact name="Dialect" isMinor>
        {task.dialect}
      </Fact>
      <Fact name="Created" isMinor>
        <Moment at={task.createdAt} />
      </Fact>
      <Fact name="Context" isMinor>
        <a class="mono" href={href(`tasks?context=${encodeURIComponent(task.contextId)}`)}>
          {shortId(task.contextId)}
        </a>
      </Fact>
      {task.node !== undefined && (
        <Fact name="Held by" isMinor>
          <span class="mono">{shortId(task.node)}</span>
        </Fact>
      )}
      {task.parent !== undefined && (
        <Fact name="Called by">
          <a class="mono" href={href(`tasks/${encodeURIComponent(task.parent)}`)}>
            {shortId(task.parent)}
          </a>
        </Fact>
      )}
      <Fact name="Id" isMinor>
        <span class="mono">{shortId(task.id)}</span>
        <CopyButton text={task.id} />
      </Fact>
    </dl>
  );
}

interface FactProps {
  readonly name: string;
  readonly children: ComponentChildren;
  /** Not shown on narrow screens. */
  readonly isMinor?: boolean;
}

function Fact({ name, children, isMinor = false }: FactProps): JSX.Element {
  return (
    <div class={isMinor ? "wide" : ""}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
