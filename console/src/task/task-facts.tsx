import type { ComponentChildren, JSX } from "preact";
import { href } from "../app/place.ts";
import type { TaskAnswer } from "../data/operator-types.ts";
import { CopyButton } from "../parts/controls.tsx";
import { Moment } from "../parts/moment.tsx";
import { count, duration, shortId } from "../text/format.ts";
import type { FollowedLog } from "./follow-log.ts";
import { endOf } from "./time-line.tsx";

export interface TaskFactsProps {
  readonly answer: TaskAnswer;
  readonly log: FollowedLog;
  readonly now: number;
  /** The name of the agent. */
  readonly agent: string;
}

/** The figures of a task in one line. */
export function TaskFacts({ answer, now, agent }: TaskFactsProps): JSX.Element {
  const { task, journal } = answer;
  const attempts = journal.filter(({ kind }) => kind === "attempt");
  const working = attempts.reduce((sum, entry) => sum + endOf(entry, journal, now) - entry.start, 0);
  const crashes = attempts.filter((entry, index) => entry.end === undefined && index < attempts.length - 1).length;
  return (
    <dl class="facts">
      <Fact name="Agent">
        <a href={href(`agents/${encodeURIComponent(task.agent)}`)}>{agent}</a>
      </Fact>
      <Fact name="Running">
        {duration(working)} <small>of {duration(now - Date.parse(task.createdAt))}</small>
      </Fact>
      <Fact name="Attempts">
        {count(Math.max(1, attempts.length))} {crashes > 0 && <small class="bad">{crashes} ended by a crash</small>}
      </Fact>
      <Fact name="Events">{count(task.seq)}</Fact>
      <Fact name="Caller">
        <a href={href(`tasks?owner=${encodeURIComponent(task.owner)}`)}>{task.owner}</a>
      </Fact>
      <Fact name="Dialect">{task.dialect}</Fact>
      <Fact name="Created">
        <Moment at={task.createdAt} />
      </Fact>
      <Fact name="Context">
        <a class="mono" href={href(`tasks?context=${encodeURIComponent(task.contextId)}`)}>
          {shortId(task.contextId)}
        </a>
      </Fact>
      {task.parent !== undefined && (
        <Fact name="Called by">
          <a class="mono" href={href(`tasks/${encodeURIComponent(task.parent)}`)}>
            {shortId(task.parent)}
          </a>
        </Fact>
      )}
      <Fact name="Id">
        <span class="mono">{shortId(task.id)}</span>
        <CopyButton text={task.id} />
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ComponentChildren }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
