import type { AgentClient, Task } from "palaver/client";
import type { JSX } from "preact";
import { useEffect, useMemo, useState } from "preact/hooks";
import { Page } from "../app/frame.tsx";
import { agentUrl, href, INSPECTED_ID } from "../app/place.ts";
import { route, setQuery } from "../app/route.ts";
import { WireDrawer } from "../chat/wire-drawer.tsx";
import { Button, CopyButton } from "../parts/controls.tsx";
import { JsonView } from "../parts/json-view.tsx";
import { Moment } from "../parts/moment.tsx";
import { Loading, Notice } from "../parts/notice.tsx";
import { PartBody } from "../parts/part-view.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { ArtifactPanel } from "../task/artifact-panel.tsx";
import { plural, shortId } from "../text/format.ts";
import { openRemote } from "./remote-client.ts";

const ENDED = ["completed", "failed", "canceled", "rejected"];

/** One task of the inspected agent, as the agent answers; live while it runs. */
export function RemoteTaskPage({ id }: { readonly id: string }): JSX.Element {
  const remote = useMemo(openRemote, [id]);
  const [task, setTask] = useState<Task>();
  const [client, setClient] = useState<AgentClient>();
  const [events, setEvents] = useState(0);
  const [failure, setFailure] = useState("");
  useEffect(() => {
    const abort = new AbortController();
    follow(id, remote.client, {
      signal: abort.signal,
      onClient: setClient,
      onTask: (next, isEvent) => {
        setTask(next);
        if (isEvent) setEvents((before) => before + 1);
      },
    }).catch((error: unknown) => {
      if (!abort.signal.aborted) setFailure(error instanceof Error ? error.message : String(error));
    });
    return () => abort.abort();
  }, [remote]);
  const hasWire = route.value.query.has("wire");
  const isEnded = task !== undefined && ENDED.includes(task.status.state);
  const cancel = (): void => {
    client
      ?.task(id)
      .cancel()
      .then(setTask, (error: unknown) => setFailure(error instanceof Error ? error.message : String(error)));
  };
  return (
    <Page
      title={`Task ${shortId(id)}`}
      fixed
      heading={
        <>
          <a href={href("tasks")}>Tasks</a>
          <span class="slash">/</span>
          <span class="mono">{shortId(id)}</span>
          {task !== undefined && <StateMark state={task.status.state} />}
        </>
      }
      actions={
        <>
          {task !== undefined && !isEnded && (
            <Button kind="danger" icon="stop" onClick={cancel}>
              Cancel task
            </Button>
          )}
          <Button icon="wire" pressed={hasWire} onClick={() => setQuery({ wire: hasWire ? undefined : "1" }, true)}>
            Wire
          </Button>
        </>
      }
    >
      <div class={hasWire ? "chat with-wire" : "chat"}>
        <div class="content scrolls">
          {failure !== "" && <Notice kind="bad">{failure}</Notice>}
          {task === undefined ? (
            failure === "" && <Loading rows={8} />
          ) : (
            <RemoteTaskView task={task} client={client} events={events} />
          )}
        </div>
        {hasWire && (
          <WireDrawer
            log={remote.wire}
            agent={agentUrl(INSPECTED_ID)}
            onClose={() => setQuery({ wire: undefined }, true)}
          />
        )}
      </div>
    </Page>
  );
}

interface Following {
  readonly signal: AbortSignal;
  readonly onClient: (client: AgentClient) => void;
  readonly onTask: (task: Task, isEvent: boolean) => void;
}

/** Reads the task, then its events while it runs. */
async function follow(
  id: string,
  opening: Promise<AgentClient>,
  { signal, onClient, onTask }: Following,
): Promise<void> {
  const client = await opening;
  onClient(client);
  const task = await client.task(id).get({ historyLength: 100, signal });
  onTask(task, false);
  if (ENDED.includes(task.status.state)) return;
  for await (const event of client.task(id).subscribe({ signal }))
    if (event.kind !== "message") onTask(event.task, event.kind !== "task");
}

interface RemoteTaskViewProps {
  readonly task: Task;
  readonly client: AgentClient | undefined;
  readonly events: number;
}

function RemoteTaskView({ task, client, events }: RemoteTaskViewProps): JSX.Element {
  const { status, history = [], artifacts = [] } = task;
  return (
    <>
      <dl class="facts">
        <div>
          <dt>Id</dt>
          <dd class="mono">
            {shortId(task.id)}
            <CopyButton text={task.id} />
          </dd>
        </div>
        <div>
          <dt>Context</dt>
          <dd class="mono">{shortId(task.contextId)}</dd>
        </div>
        {status.timestamp !== undefined && (
          <div>
            <dt>State since</dt>
            <dd>
              <Moment at={status.timestamp} />
            </dd>
          </div>
        )}
        {client !== undefined && (
          <div>
            <dt>Protocol</dt>
            <dd>
              {client.interface.protocolVersion} over {client.interface.binding}
            </dd>
          </div>
        )}
        <div>
          <dt>Seen here</dt>
          <dd>{plural(events, "event")}</dd>
        </div>
      </dl>
      <div class="columns">
        <section aria-label="Messages">
          <div class="section-head">
            <h2>Messages</h2>
          </div>
          <ul class="messages">
            {[...history, ...(isListed(task) || status.message === undefined ? [] : [status.message])].map(
              (message) => (
                <li key={message.messageId}>
                  <p class="soft">{message.role === "user" ? "The caller" : "The agent"}</p>
                  {message.parts.map((part, index) => (
                    <PartBody key={index} part={part} />
                  ))}
                </li>
              ),
            )}
          </ul>
        </section>
        <ArtifactPanel artifacts={artifacts} at={undefined} />
      </div>
      <details class="fold">
        <summary>The task as JSON</summary>
        <JsonView value={task} />
      </details>
    </>
  );
}

/** Whether the message of the status is in the history as well. */
function isListed({ status, history = [] }: Task): boolean {
  return history.some(({ messageId }) => messageId === status.message?.messageId);
}
