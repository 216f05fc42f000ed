import type { JSX } from "preact";
import { href } from "../app/place.ts";
import type { JournalEntry } from "../data/operator-types.ts";
import { agentName } from "../tasks/task-rows.tsx";
import { shortId } from "../text/format.ts";

/** An agent that was called, with its task if that is one of this server. */
export function CalledAgent({ called }: { readonly called: NonNullable<JournalEntry["called"]> }): JSX.Element {
  const { agent, taskId } = called;
  if (URL.canParse(agent)) return <span title={taskId === undefined ? undefined : `Task ${taskId}`}>{agent}</span>;
  return (
    <>
      {agentName(agent)}{" "}
      {taskId !== undefined && (
        <a class="link mono" href={href(`tasks/${encodeURIComponent(taskId)}`)}>
          {shortId(taskId)}
        </a>
      )}
    </>
  );
}
