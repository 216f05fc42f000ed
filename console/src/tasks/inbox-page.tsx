import type { JSX } from "preact";
import { Page } from "../app/frame.tsx";
import { href } from "../app/place.ts";
import { operatorApi } from "../data/operator-api.ts";
import type { TaskRow } from "../data/operator-types.ts";
import { usePolled } from "../data/polled.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Moment } from "../parts/moment.tsx";
import { Empty, Failure, Loading } from "../parts/notice.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { plural } from "../text/format.ts";
import { agentName, taskTitle } from "./task-rows.tsx";

const MOST = 200;

/** Everything that waits for a person, of all agents, longest first. */
export function InboxPage(): JSX.Element {
  const { value, error, reload } = usePolled({
    key: "inbox",
    every: 2500,
    load: async (signal) => {
      const pages = await Promise.all(
        ["input-required", "auth-required"].map((state) =>
          operatorApi.tasks({ state, limit: MOST, text: "true" }, signal),
        ),
      );
      return pages.flatMap(({ tasks }) => tasks).sort((a, b) => a.statusAt.localeCompare(b.statusAt));
    },
  });
  return (
    <Page title="Inbox">
      <div class="content">
        {error !== undefined && value === undefined && <Failure what="The questions" error={error} retry={reload} />}
        {value === undefined ? (
          error === undefined && <Loading rows={6} />
        ) : value.length === 0 ? (
          <Empty icon="inbox" title="Nothing waits for a person.">
            <p>Questions and requests to sign in appear here, whichever agent asks.</p>
          </Empty>
        ) : (
          <>
            <p class="sentence">
              <strong>{plural(value.length, "task")}</strong> {value.length === 1 ? "waits" : "wait"} for a person, the
              longest first.
            </p>
            <ul class="inbox">
              {value.map((task) => (
                <Waiting key={task.key} task={task} />
              ))}
            </ul>
          </>
        )}
      </div>
    </Page>
  );
}

/** A question. Anonymous tasks are answered in the chat; others only by their callers. */
function Waiting({ task }: { readonly task: TaskRow }): JSX.Element {
  const question = task.status.message?.parts
    ?.map((part) => part.text ?? "")
    .join("")
    .trim();
  const chat = href(`agents/${encodeURIComponent(task.agent)}/chat/${encodeURIComponent(task.contextId)}`);
  return (
    <li>
      <StateMark state={task.state} bare />
      <div>
        <h2>{question || "The agent asks without words."}</h2>
        <p class="soft">
          <AgentFlag id={task.agent} /> {agentName(task.agent)} asks {task.owner} <Moment at={task.statusAt} />, about “
          {taskTitle(task)}”
        </p>
      </div>
      <a class="button" href={href(`tasks/${encodeURIComponent(task.key)}`)}>
        Task
      </a>
      {task.owner === "anonymous" ? (
        <a class="button main" href={chat}>
          Answer
        </a>
      ) : (
        <small class="soft">only {task.owner} can answer</small>
      )}
    </li>
  );
}
