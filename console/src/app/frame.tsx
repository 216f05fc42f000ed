import type { ComponentChildren, JSX } from "preact";
import { connection, tryNow } from "../data/connection.ts";
import { overview } from "../data/overview.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Button } from "../parts/controls.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { useNow } from "../parts/moment.tsx";
import { clock, duration } from "../text/format.ts";
import { Announcements } from "./announce.tsx";
import { openPalette } from "./palette.tsx";
import { href, INSPECTED, INSPECTED_ID } from "./place.ts";
import { route } from "./route.ts";
import { nextTheme, theme } from "./theme.ts";

interface Place {
  readonly path: string;
  readonly name: string;
  readonly icon: IconName;
}

/** The pages in the sidebar, in this order. */
export const PLACES: readonly Place[] = INSPECTED === undefined ? ownPlaces() : inspectedPlaces();

function inspectedPlaces(): readonly Place[] {
  return [
    { path: "", name: "Card", icon: "card" },
    { path: `agents/${INSPECTED_ID}/chat`, name: "Chat", icon: "chat" },
    { path: "tasks", name: "Tasks", icon: "tasks" },
  ];
}

function ownPlaces(): readonly Place[] {
  return [
    { path: "", name: "Agents", icon: "agents" },
    { path: "tasks", name: "Tasks", icon: "tasks" },
    { path: "inbox", name: "Inbox", icon: "inbox" },
    { path: "webhooks", name: "Webhooks", icon: "webhooks" },
    { path: "server", name: "Server", icon: "server" },
  ];
}

/** The sidebar, the tabs of narrow screens, and the page. */
export function Frame({ children }: { readonly children: ComponentChildren }): JSX.Element {
  return (
    <>
      <a class="skip" href="#main">
        Skip to the page
      </a>
      <div class="frame">
        <aside class="sidebar">
          <Brand />
          <button type="button" class="search" onClick={openPalette}>
            <Icon name="search" />
            <span>Search or jump to</span>
            <kbd>⌘K</kbd>
          </button>
          <Places label="Pages" />
          {INSPECTED === undefined && <AgentLinks />}
          <ConnectionSign />
        </aside>
        <main id="main" class="sheet" tabIndex={0}>
          {children}
        </main>
        <div class="tabs">
          <Places label="Pages, below" />
        </div>
      </div>
      <Announcements />
    </>
  );
}

function Brand(): JSX.Element {
  return (
    <a class="brand" href={href("")}>
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect class="square" x="3" y="3" width="17" height="17" rx="5" />
        <circle class="disc" cx="20.500" cy="20.500" r="8.500" />
      </svg>
      <span>
        <strong>Palaver</strong>
        <small class="cut">{INSPECTED === undefined ? location.host : new URL(INSPECTED).host}</small>
      </span>
    </a>
  );
}

/** Where a page belongs: the page of an agent belongs to Agents; a chat has a place of its own. */
function isHere(path: string): boolean {
  const [first = "", , view] = route.value.segments;
  if (path.endsWith("/chat")) return view === "chat";
  return path === "" ? first === "" || (first === "agents" && view !== "chat") : first === path;
}

function Places({ label }: { readonly label: string }): JSX.Element {
  return (
    <nav class="places" aria-label={label}>
      {PLACES.map(({ path, name, icon }) => (
        <a key={path} href={href(path)} aria-current={isHere(path) ? "page" : undefined}>
          <Icon name={icon} />
          <span>{name}</span>
          <Badge path={path} />
        </a>
      ))}
    </nav>
  );
}

/** How many things need a person; only where some do. */
function Badge({ path }: { readonly path: string }): JSX.Element | null {
  const { nodes, deadLetters = 0 } = overview.value ?? {};
  const waiting = (nodes?.tasks?.["input-required"] ?? 0) + (nodes?.tasks?.["auth-required"] ?? 0);
  if (path === "inbox" && waiting > 0)
    return (
      <span class="badge warn">
        {waiting}
        <span class="hidden"> waiting</span>
      </span>
    );
  if (path === "webhooks" && deadLetters > 0)
    return (
      <span class="badge bad">
        {deadLetters >= 50 ? "50+" : deadLetters}
        <span class="hidden"> failed</span>
      </span>
    );
  return null;
}

function AgentLinks(): JSX.Element {
  const { segments } = route.value;
  return (
    <nav class="places agents" aria-label="Chat with">
      <h2>Chat with</h2>
      {overview.value?.server.agents.map(({ id, name }) => (
        <a
          key={id}
          href={href(`agents/${encodeURIComponent(id)}/chat`)}
          aria-current={segments[1] === id && segments[2] === "chat" ? "page" : undefined}
        >
          <AgentFlag id={id} />
          <span class="cut">{name}</span>
        </a>
      ))}
    </nav>
  );
}

/** `Live` means that the server has answered in the last 20 seconds. */
function ConnectionSign(): JSX.Element {
  const now = useNow();
  const { answeredAt, lostAt } = connection.value;
  const isLive = lostAt === undefined && answeredAt !== undefined && now - answeredAt < 20_000;
  const themeIcon = theme.value === "light" ? "sun" : theme.value === "dark" ? "moon" : "system";
  return (
    <div class="sign">
      <span class={isLive || INSPECTED !== undefined ? "live" : "lost"}>
        <Icon name={INSPECTED !== undefined ? "search" : isLive ? "live" : "lost"} />
        <span>
          <strong>
            {INSPECTED !== undefined
              ? "Inspecting"
              : isLive
                ? "Live"
                : lostAt === undefined
                  ? "Connecting"
                  : "Not connected"}
          </strong>
          <small>{overview.value === undefined ? "" : `Palaver ${overview.value.server.version}`}</small>
        </span>
      </span>
      <Button kind="quiet" icon={themeIcon} label={`Colours: ${theme.value}. Change`} onClick={nextTheme} />
    </div>
  );
}

export interface PageProps {
  /** The title for the browser and, without `heading`, for the page. */
  readonly title: string;
  readonly heading?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
  /** The page scrolls its own parts. */
  readonly fixed?: boolean;
}

/** A page: a bar that says where one is and what can be done here, and its content. */
export function Page({ title, heading, actions, children, fixed = false }: PageProps): JSX.Element {
  document.title = `${title} · Palaver`;
  return (
    <div class={fixed ? "page fixed" : "page"}>
      <header class="bar">
        <h1>{heading ?? title}</h1>
        <div class="actions">{actions}</div>
      </header>
      <LostNotice />
      {children}
    </div>
  );
}

/** Appears two seconds after the connection was lost, and says what that means. */
function LostNotice(): JSX.Element | null {
  const now = useNow(500);
  const { lostAt, answeredAt, nextTryAt = now } = connection.value;
  if (lostAt === undefined || now - lostAt < 2000) return null;
  return (
    <div class="disconnected" role="alert">
      <Icon name="lost" />
      <p>
        <strong>The server has not answered for {duration(now - lostAt)}.</strong>{" "}
        {answeredAt !== undefined && `You see the state as of ${clock(answeredAt)}. `}
        Tasks go on without this page. Next try in {duration(Math.max(0, nextTryAt - now))}.
      </p>
      <Button onClick={tryNow}>Try now</Button>
    </div>
  );
}
