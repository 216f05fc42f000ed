import type { ComponentType, JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { AgentsPage } from "../agents/agents-page.tsx";
import { askEarly } from "../data/first-outline.ts";
import { startOverview } from "../data/overview.ts";
import { Empty, Loading } from "../parts/notice.tsx";
import { Frame, Page } from "./frame.tsx";
import { Palette } from "./palette.tsx";
import { href, INSPECTED, INSPECTED_ID } from "./place.ts";
import { route } from "./route.ts";
import { sessionToken } from "./session.ts";
import { SignIn } from "./sign-in.tsx";

/** The whole console. */
export function App(): JSX.Element {
  const isSignedIn = sessionToken.value !== undefined;
  useEffect(() => {
    if (isSignedIn && INSPECTED === undefined) startOverview();
  }, [isSignedIn]);
  if (!isSignedIn) return <SignIn />;
  return (
    <>
      <Frame>
        <CurrentPage />
      </Frame>
      <Palette />
    </>
  );
}

type PageOf = ComponentType<{ readonly id: string; readonly rest: string | undefined }>;

/** Pages that are loaded when they are first opened. */
const LATER: Readonly<Record<string, () => Promise<PageOf>>> = {
  chat: async () => (await import("../chat/chat-page.tsx")).ChatPage,
  agent: async () => (await import("../agents/agent-page.tsx")).AgentPage,
  tasks: async () => (await import("../tasks/tasks-page.tsx")).TasksPage,
  task: async () => (await import("../task/task-page.tsx")).TaskPage,
  inbox: async () => (await import("../inbox/inbox-page.tsx")).InboxPage,
  webhooks: async () => (await import("../webhooks/webhooks-page.tsx")).WebhooksPage,
  server: async () => (await import("../server/server-page.tsx")).ServerPage,
  "remote-task": async () => (await import("../inspect/remote-task-page.tsx")).RemoteTaskPage,
  "remote-tasks": async () => (await import("../inspect/remote-tasks-page.tsx")).RemoteTasksPage,
};

function CurrentPage(): JSX.Element {
  const [place = "", id = "", view, rest] = route.value.segments;
  if (INSPECTED !== undefined) {
    if (place === "" || (place === "agents" && view === undefined)) return <Later name="agent" id={INSPECTED_ID} />;
    if (place === "tasks") return <Later name={id === "" ? "remote-tasks" : "remote-task"} id={id} />;
  }
  if (place === "") return <AgentsPage />;
  if (place === "agents" && id !== "") return <Later name={view === "chat" ? "chat" : "agent"} id={id} rest={rest} />;
  if (place === "tasks" && id !== "") return <Later name="task" id={id} />;
  if (place === "inbox") return <Later name="inbox" id={id} keeps />;
  if (["tasks", "webhooks", "server"].includes(place) && id === "") return <Later name={place} />;
  return (
    <Page title="Not found">
      <Empty icon="search" title="This page does not exist.">
        <p>
          <a class="link" href={href("")}>
            All agents
          </a>
        </p>
      </Empty>
    </Page>
  );
}

const loaded = new Map<string, PageOf>();

interface LaterProps {
  readonly name: string;
  readonly id?: string;
  readonly rest?: string | undefined;
  /** The page stays the same if another id is opened. */
  readonly keeps?: boolean;
}

function Later({ name, id = "", rest, keeps = false }: LaterProps): JSX.Element {
  const [, setLoaded] = useState(0);
  const [failed, setFailed] = useState(false);
  const Found = loaded.get(name);
  useEffect(() => {
    if (loaded.has(name)) return;
    setFailed(false);
    if (name === "task") askEarly(id);
    LATER[name]?.().then(
      (page) => {
        loaded.set(name, page);
        setLoaded((before) => before + 1);
      },
      () => setFailed(true),
    );
  }, [name]);
  if (Found !== undefined) return <Found key={keeps ? name : `${name} ${id}`} id={id} rest={rest} />;
  return (
    <Page title="Palaver">
      {failed ? (
        <Empty icon="warning" title="This page could not be loaded.">
          <p>The server does not answer, or has been updated. Reload the page.</p>
        </Empty>
      ) : (
        <Loading rows={8} />
      )}
    </Page>
  );
}
