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

interface LaterProps {
  readonly name: string;
  readonly id?: string;
  readonly rest?: string | undefined;
  /** The page stays the same if another id is opened. */
  readonly keeps?: boolean;
}

/** The page of an address. `undefined`: it is the first page, or there is none. */
function laterPage([place = "", id = "", view, rest]: readonly string[]): LaterProps | undefined {
  if (INSPECTED !== undefined) {
    if (place === "" || (place === "agents" && view === undefined)) return { name: "agent", id: INSPECTED_ID };
    if (place === "tasks") return { name: id === "" ? "remote-tasks" : "remote-task", id };
  }
  if (place === "agents" && id !== "") return { name: view === "chat" ? "chat" : "agent", id, rest };
  if (place === "tasks" && id !== "") return { name: "task", id };
  if (place === "inbox") return { name: "inbox", id, keeps: true };
  if (["tasks", "webhooks", "server"].includes(place) && id === "") return { name: place };
  return undefined;
}

function CurrentPage(): JSX.Element {
  const { segments } = route.value;
  const later = laterPage(segments);
  if (later !== undefined) return <Later {...later} />;
  if (segments.length === 0) return <AgentsPage />;
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

/** Loads the code of a page once, and asks for the task that it shows meanwhile. */
async function load({ name, id = "" }: LaterProps): Promise<void> {
  if (loaded.has(name)) return;
  if (name === "task") askEarly(id);
  const page = await LATER[name]?.();
  if (page !== undefined) loaded.set(name, page);
}

/** Loads the page of the address before anything is drawn. */
export function loadFirstPage(): void {
  const later = laterPage(route.peek().segments);
  // A failure is shown where the page is opened.
  if (later !== undefined && sessionToken.peek() !== undefined) load(later).catch(() => undefined);
}

function Later({ name, id = "", rest, keeps = false }: LaterProps): JSX.Element {
  const [, setLoaded] = useState(0);
  const [failed, setFailed] = useState(false);
  const Found = loaded.get(name);
  useEffect(() => {
    // The code may have arrived after the page was drawn without it: then it is drawn again.
    if (Found !== undefined) return;
    setFailed(false);
    load({ name, id }).then(
      () => setLoaded((before) => before + 1),
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
