import type { JSX } from "preact";
import { href } from "../app/place.ts";
import type { TaskRow } from "../data/operator-types.ts";
import { overview } from "../data/overview.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Moment, useNow } from "../parts/moment.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { count, duration, shortId } from "../text/format.ts";

export interface TaskRowsProps {
  readonly tasks: readonly TaskRow[];
  /** Whether the column of the agents is shown. Default true. */
  readonly agents?: boolean;
}

/** The name of an agent; its id if this process does not serve it. */
export function agentName(id: string): string {
  return overview.value?.server.agents.find((agent) => agent.id === id)?.name ?? id;
}

/** The first words of a task, else what it says about itself, else its id. */
export function taskTitle({ text, status, id }: TaskRow): string {
  const said = status.message?.parts?.map((part) => part.text ?? "").join("") ?? "";
  return (text ?? said).trim() || `Task ${shortId(id)}`;
}

/** Tasks as a table; on narrow screens two lines each. */
export function TaskRows({ tasks, agents = true }: TaskRowsProps): JSX.Element {
  return (
    <table class="rows tasks">
      <thead>
        <tr>
          <th scope="col">State</th>
          <th scope="col">Task</th>
          {agents && <th scope="col">Agent</th>}
          <th scope="col" class="caller">
            Caller
          </th>
          <th scope="col" class="num">
            Events
          </th>
          <th scope="col" class="num">
            Took
          </th>
          <th scope="col" class="num">
            State since
          </th>
        </tr>
      </thead>
      <tbody>
        {tasks.map((task) => (
          <tr key={task.key}>
            <td class="mark">
              <StateMark state={task.state} />
            </td>
            <td class="title">
              <a class="cut" href={href(`tasks/${encodeURIComponent(task.key)}`)}>
                {taskTitle(task)}
              </a>
            </td>
            {agents && (
              <td class="agent">
                <AgentFlag id={task.agent} />
                <span class="cut">{agentName(task.agent)}</span>
              </td>
            )}
            <td class="caller cut">{task.owner}</td>
            <td class="num events">{count(task.seq)}</td>
            <td class="num took">
              <Took task={task} />
            </td>
            <td class="num changed">
              <Moment at={task.statusAt} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** From the creation to the last state; of a task at work, to now. */
function Took({ task }: { readonly task: TaskRow }): JSX.Element {
  const now = useNow();
  const isAtWork = task.state === "working" || task.state === "submitted";
  return <>{duration((isAtWork ? now : Date.parse(task.statusAt)) - Date.parse(task.createdAt))}</>;
}
