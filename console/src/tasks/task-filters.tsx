import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { href } from "../app/place.ts";
import { navigate, route, setQuery } from "../app/route.ts";
import { STATES } from "../data/operator-types.ts";
import { overview } from "../data/overview.ts";
import { Choice } from "../parts/controls.tsx";
import { Icon } from "../parts/icon.tsx";
import { StateMark } from "../parts/state-mark.tsx";
import { count } from "../text/format.ts";

const RANGES = [
  ["1h", "1 h"],
  ["24h", "24 h"],
  ["7d", "7 d"],
  ["", "All"],
] as const;

/** Filters of the list. All are in the address, so that a list can be sent to a colleague. */
export function TaskFilters(): JSX.Element {
  const { query } = route.value;
  const agents = overview.value?.server.agents ?? [];
  return (
    <div class="filters">
      <WordField />
      <label class="hidden" for="agent-filter">
        Agent
      </label>
      <select
        id="agent-filter"
        value={query.get("agent") ?? ""}
        onChange={(event) => setQuery({ agent: event.currentTarget.value, cursor: undefined })}
      >
        <option value="">All agents</option>
        {agents.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
      <Choice
        label="Changed in the last"
        options={RANGES}
        value={RANGES.find(([range]) => range === query.get("range"))?.[0] ?? ""}
        onChange={(range) => setQuery({ range, cursor: undefined })}
      />
      <ExactFilters />
      <StateTabs />
    </div>
  );
}

/** `owner:ada` and `context:…` filter by exact values; anything else is the id of a task, which is opened. */
function WordField(): JSX.Element {
  const [text, setText] = useState("");
  const submit = (event: Event): void => {
    event.preventDefault();
    const [, name, value] = /^(owner|caller|context):\s*(.+)$/.exec(text.trim()) ?? [];
    if (value !== undefined) setQuery({ [name === "context" ? "context" : "owner"]: value.trim(), cursor: undefined });
    else if (text.trim() !== "") navigate(href(`tasks/${encodeURIComponent(text.trim())}`));
    setText("");
  };
  return (
    <form class="find" onSubmit={submit}>
      <Icon name="search" />
      <input
        type="search"
        data-filter
        aria-label="A task id, caller:NAME or context:ID"
        placeholder="A task id, caller:NAME or context:ID"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <kbd>/</kbd>
    </form>
  );
}

/** The filters by exact values that are set; each can be removed. */
function ExactFilters(): JSX.Element | null {
  const { query } = route.value;
  const set = (["owner", "context"] as const).flatMap((name) => {
    const value = query.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  if (set.length === 0) return null;
  return (
    <>
      {set.map(([name, value]) => (
        <button
          key={name}
          type="button"
          class="token"
          onClick={() => setQuery({ [name]: undefined, cursor: undefined })}
        >
          {name === "owner" ? "caller" : name} is <strong class="cut">{value}</strong>
          <Icon name="close" />
          <span class="hidden">Remove this filter</span>
        </button>
      ))}
    </>
  );
}

/** All states with the number of tasks, over all agents. */
function StateTabs(): JSX.Element {
  const { query } = route.value;
  const counts = overview.value?.nodes.tasks;
  const chosen = query.get("state") ?? "";
  const isNarrowed = ["agent", "owner", "context", "range"].some((name) => query.has(name));
  const total = counts === undefined ? undefined : Object.values(counts).reduce((sum, each) => sum + each, 0);
  return (
    <div class="state-tabs" role="group" aria-label="State">
      <button
        type="button"
        aria-pressed={chosen === ""}
        onClick={() => setQuery({ state: undefined, cursor: undefined })}
      >
        All {!isNarrowed && total !== undefined && <small>{count(total)}</small>}
      </button>
      {STATES.map((state) => (
        <button
          key={state}
          type="button"
          aria-pressed={chosen === state}
          onClick={() => setQuery({ state, cursor: undefined })}
        >
          <StateMark state={state} />
          {!isNarrowed && counts !== undefined && <small>{count(counts[state])}</small>}
        </button>
      ))}
    </div>
  );
}
