import type { Task } from "palaver/client";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Page } from "../app/frame.tsx";
import { href } from "../app/place.ts";
import { navigate } from "../app/route.ts";
import { Button } from "../parts/controls.tsx";
import { Moment } from "../parts/moment.tsx";
import { Empty, Loading } from "../parts/notice.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { shortId } from "../text/format.ts";
import { openRemote } from "./remote-client.ts";

const MOST = 50;

/** The tasks that the inspected agent lists for this caller; early versions list none, so a task can be opened by its id. */
export function RemoteTasksPage(): JSX.Element {
  const [tasks, setTasks] = useState<readonly Task[]>();
  const [failure, setFailure] = useState("");
  const [id, setId] = useState("");
  useEffect(() => {
    openRemote()
      .client.then((client) => client.taskPage({ pageSize: MOST }))
      .then(
        (page) => setTasks(page.tasks),
        (error: unknown) => setFailure(error instanceof Error ? error.message : String(error)),
      );
  }, []);
  return (
    <Page title="Tasks">
      <div class="content">
        <form
          class="words"
          onSubmit={(event) => {
            event.preventDefault();
            if (id.trim() !== "") navigate(href(`tasks/${encodeURIComponent(id.trim())}`));
          }}
        >
          <label for="task-id">Id of a task</label>
          <input id="task-id" type="text" value={id} onInput={(event) => setId(event.currentTarget.value)} />
          <Button submit>Open</Button>
        </form>
        {failure !== "" ? (
          <Empty icon="tasks" title="This agent does not list tasks.">
            <p>{failure}</p>
          </Empty>
        ) : tasks === undefined ? (
          <Loading rows={6} />
        ) : tasks.length === 0 ? (
          <Empty icon="tasks" title="The agent lists no tasks of this caller." />
        ) : (
          <table class="rows tasks">
            <thead>
              <tr>
                <th scope="col">State</th>
                <th scope="col">Task</th>
                <th scope="col" class="num">
                  State since
                </th>
              </tr>
            </thead>
            <tbody>
              {tasks.map((task) => (
                <tr key={task.id}>
                  <td class="mark">
                    <StateMark state={task.status.state} />
                  </td>
                  <td class="title">
                    <a class="mono" href={href(`tasks/${encodeURIComponent(task.id)}`)}>
                      {shortId(task.id)}
                    </a>
                  </td>
                  <td class="num">{task.status.timestamp !== undefined && <Moment at={task.status.timestamp} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        )}
      </div>
    </Page>
  );
}
