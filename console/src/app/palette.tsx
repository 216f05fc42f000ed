import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { STATES } from "../data/operator-types.ts";
import { overview } from "../data/overview.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Icon, type IconName } from "../parts/icon.tsx";
import { STATE_WORDS } from "../parts/state-mark.tsx";
import { href } from "./place.ts";
import { navigate } from "./route.ts";
import { nextTheme } from "./theme.ts";

interface Entry {
  readonly text: string;
  readonly icon?: IconName;
  /** The agent whose flag is shown. */
  readonly agent?: string;
  readonly keys?: string;
  readonly run: () => void;
}

const isOpen = signal(false);
/** Entries below the search field. */
const MOST = 12;

export function openPalette(): void {
  isOpen.value = true;
}

function go(path: string): () => void {
  return () => navigate(href(path));
}

function allEntries(): readonly Entry[] {
  const agents = overview.value?.server.agents ?? [];
  return [
    { text: "Agents", icon: "agents", keys: "G A", run: go("") },
    { text: "Tasks", icon: "tasks", keys: "G T", run: go("tasks") },
    { text: "Inbox", icon: "inbox", keys: "G I", run: go("inbox") },
    { text: "Webhooks", icon: "webhooks", keys: "G W", run: go("webhooks") },
    { text: "Server", icon: "server", keys: "G S", run: go("server") },
    ...agents.map(({ id, name }) => ({
      text: `Chat with ${name}`,
      agent: id,
      run: go(`agents/${encodeURIComponent(id)}/chat`),
    })),
    ...agents.map(({ id, name }) => ({
      text: `${name}: card`,
      agent: id,
      run: go(`agents/${encodeURIComponent(id)}`),
    })),
    ...STATES.map((state) => ({
      text: `Tasks: ${STATE_WORDS[state]}`,
      icon: "tasks" as const,
      run: go(`tasks?state=${state}`),
    })),
    { text: "Change colours", icon: "sun", run: nextTheme },
  ];
}

/** A pasted id opens its task. */
function entriesFor(words: string): readonly Entry[] {
  const text = words.trim().toLowerCase();
  const isId = /^[\w-]{16,}$/.test(text);
  const task: readonly Entry[] = isId
    ? [{ text: `Open task ${words.trim()}`, icon: "tasks", run: go(`tasks/${encodeURIComponent(words.trim())}`) }]
    : [];
  const parts = text.split(/\s+/);
  const matching = allEntries().filter((entry) => parts.every((part) => entry.text.toLowerCase().includes(part)));
  return [...task, ...matching].slice(0, MOST);
}

/** Finds pages, agents and tasks by words. */
export function Palette(): JSX.Element | null {
  return isOpen.value ? <PaletteDialog /> : null;
}

function PaletteDialog(): JSX.Element {
  const [words, setWords] = useState("");
  const [chosen, setChosen] = useState(0);
  const dialog = useRef<HTMLDialogElement>(null);
  const entries = useMemo(() => entriesFor(words), [words]);
  useEffect(() => dialog.current?.showModal(), []);
  const close = (): void => {
    isOpen.value = false;
  };
  const run = (entry: Entry | undefined): void => {
    close();
    entry?.run();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === "ArrowDown") setChosen((chosen + 1) % Math.max(1, entries.length));
    else if (event.key === "ArrowUp") setChosen((chosen + entries.length - 1) % Math.max(1, entries.length));
    else if (event.key === "Enter") run(entries[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <dialog
      ref={dialog}
      class="palette"
      aria-label="Search or jump to"
      onClose={close}
      onClick={(event) => event.target === dialog.current && close()}
    >
      <input
        type="text"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`palette-${chosen}`}
        aria-label="Search or jump to"
        placeholder="An agent, a page, a task id"
        value={words}
        onKeyDown={onKey}
        onInput={(event) => {
          setWords(event.currentTarget.value);
          setChosen(0);
        }}
      />
      <div id="palette-list" role="listbox" aria-label="Results">
        {entries.map((entry, index) => (
          <div
            key={entry.text}
            id={`palette-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => run(entry)}
          >
            {entry.agent === undefined ? <Icon name={entry.icon ?? "right"} /> : <AgentFlag id={entry.agent} />}
            <span class="cut">{entry.text}</span>
            {entry.keys !== undefined && <kbd>{entry.keys}</kbd>}
          </div>
        ))}
      </div>
      {entries.length === 0 && <p class="soft">Nothing is called that. A whole task id opens the task.</p>}
    </dialog>
  );
}
