import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Page } from "../app/frame.tsx";
import { href } from "../app/place.ts";
import { route, setQuery } from "../app/route.ts";
import { isTyping } from "../app/shortcuts.ts";
import { operatorApi } from "../data/operator-api.ts";
import { overview } from "../data/overview.ts";
import { usePolled } from "../data/polled.ts";
import { Button } from "../parts/controls.tsx";
import { Empty, Failure, Loading } from "../parts/notice.tsx";
import { count, duration, plural } from "../text/format.ts";
import { useStableRows } from "./stable-rows.ts";
import { TaskFilters } from "./task-filters.tsx";
import { TaskRows } from "./task-rows.tsx";

const PAGE = 50;
const RANGES: Readonly<Record<string, number>> = { "1h": 3_600_000, "24h": 86_400_000, "7d": 7 * 86_400_000 };

/** The tasks of all agents and callers, newest change first. */
export function TasksPage(): JSX.Element {
  const { query } = route.value;
  const read = (name: string): string | undefined => query.get(name) ?? undefined;
  const range = RANGES[query.get("range") ?? ""];
  const filter = {
    agent: read("agent"),
    state: read("state"),
    owner: read("owner"),
    context: read("context"),
    before: read("before"),
    cursor: read("cursor"),
  };
  const [took, setTook] = useState<number>();
  const key = JSON.stringify({ ...filter, range });
  const { value, error, reload } = usePolled({
    key,
    every: filter.cursor === undefined && filter.before === undefined ? 2500 : undefined,
    load: async (signal) => {
      const started = performance.now();
      const since = range === undefined ? undefined : new Date(Date.now() - range).toISOString();
      const page = await operatorApi.tasks({ ...filter, since, limit: PAGE, text: "true" }, signal);
      setTook(performance.now() - started);
      return page;
    },
  });
  const { rows, fresh, showNew } = useStableRows(key, value?.tasks);
  useRowKeys(showNew);
  const total = Object.values(overview.value?.nodes.tasks ?? {}).reduce((sum, each) => sum + each, 0);
  return (
    <Page
      title="Tasks"
      heading={
        <>
          Tasks <span class="soft">{count(total)}</span>
        </>
      }
    >
      <div class="content">
        <TaskFilters />
        {fresh > 0 && (
          <button type="button" class="fresh" onClick={showNew}>
            {plural(fresh, "new task")} <kbd>N</kbd>
          </button>
        )}
        {error !== undefined && rows === undefined && <Failure what="The tasks" error={error} retry={reload} />}
        {rows === undefined ? (
          error === undefined && <Loading rows={12} />
        ) : rows.length === 0 ? (
          <NoTasks />
        ) : (
          <TaskRows tasks={rows} />
        )}
        <footer class="foot">
          {(filter.cursor !== undefined || filter.before !== undefined) && (
            <>
              <Button onClick={() => setQuery({ cursor: undefined, before: undefined })}>Newest</Button>
              <Button icon="left" onClick={() => history.back()}>
                Back
              </Button>
            </>
          )}
          {value?.next !== undefined && <Button onClick={() => setQuery({ cursor: value.next })}>Older</Button>}
          <JumpField before={filter.before} />
          <span class="soft">Newest change first{took === undefined ? "" : `, answered in ${duration(took)}`}</span>
        </footer>
      </div>
    </Page>
  );
}

/** Goes to the page of any time at once, however many tasks lie between. */
function JumpField({ before }: { readonly before: string | undefined }): JSX.Element {
  return (
    <label class="jump">
      <span>Changed before</span>
      <input
        type="datetime-local"
        step="1"
        value={before === undefined ? "" : localTime(Date.parse(before))}
        onChange={(event) => {
          const time = Date.parse(event.currentTarget.value);
          setQuery({ cursor: undefined, before: Number.isNaN(time) ? undefined : new Date(time).toISOString() });
        }}
      />
    </label>
  );
}

/** As the field has it: the local time without a zone. */
function localTime(time: number): string {
  const local = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

function NoTasks(): JSX.Element {
  const isFiltered = [...route.value.query.keys()].length > 0;
  if (isFiltered)
    return (
      <Empty icon="search" title="No task fits these filters.">
        <p>
          <a class="link" href={href("tasks")}>
            Show all tasks
          </a>
        </p>
      </Empty>
    );
  const [agent] = overview.value?.server.agents ?? [];
  return (
    <Empty icon="tasks" title="There are no tasks yet.">
      {agent !== undefined && (
        <p>
          <a class="link" href={href(`agents/${encodeURIComponent(agent.id)}/chat`)}>
            Send a message to {agent.name}
          </a>{" "}
          to make one.
        </p>
      )}
    </Empty>
  );
}

/** `J` and `K` move between rows, `N` shows new tasks. Enter opens the link that has the focus. */
function useRowKeys(showNew: () => void): void {
  const latest = useRef(showNew);
  latest.current = showNew;
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || isTyping(event.target)) return;
      const key = event.key.toLowerCase();
      if (key === "n") latest.current();
      if (key !== "j" && key !== "k") return;
      const links = [...document.querySelectorAll<HTMLElement>(".rows .title a")];
      const at = links.indexOf(document.activeElement as HTMLElement);
      const next = key === "j" ? Math.min(at + 1, links.length - 1) : Math.max(at - 1, 0);
      links[next]?.focus();
    };
    document.addEventListener("keydown", onKey);
    return () => document.removeEventListener("keydown", onKey);
  }, []);
}
