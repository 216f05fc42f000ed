import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { Page } from "../app/frame.tsx";
import { href } from "../app/place.ts";
import { ApiError, operatorApi } from "../data/operator-api.ts";
import type { Metric, ServerAnswer, TaskPage } from "../data/operator-types.ts";
import { overview } from "../data/overview.ts";
import { usePolled } from "../data/polled.ts";
import { AgentFlag } from "../parts/agent-flag.tsx";
import { Moment, useNow } from "../parts/moment.tsx";
import { Failure, Loading } from "../parts/notice.tsx";
import { bytes, count, duration, plural } from "../text/format.ts";
import { useHistory } from "./figure-history.ts";
import { LineChart } from "./line-chart.tsx";
import { average, totalOf } from "./metric-values.ts";

/** The processes, their leases, the store, and what the server does. Charts begin when the page is opened. */
export function ServerPage(): JSX.Element {
  const {
    value: metrics,
    error,
    reload,
  } = usePolled({
    key: "metrics",
    every: 2000,
    load: async (signal) => {
      try {
        return (await operatorApi.metrics(signal)).metrics;
      } catch (failure) {
        // 503: metrics are turned off.
        if (failure instanceof ApiError && failure.status === 503) return [];
        throw failure;
      }
    },
  });
  const history = useHistory(metrics);
  const known = overview.value;
  if (known === undefined)
    return (
      <Page title="Server">
        <div class="content">
          {error === undefined ? <Loading rows={6} /> : <Failure what="The server" error={error} retry={reload} />}
        </div>
      </Page>
    );
  const { server, nodes } = known;
  const { running = 0, queued = 0 } = server.counts;
  const read = metrics ?? [];
  return (
    <Page
      title="Server"
      heading={
        <>
          Server <span class="soft">Palaver {server.version}</span>
        </>
      }
    >
      <div class="content">
        <p class="sentence">
          <strong>{plural(Math.max(1, nodes.nodes.length), "node")}</strong>. {plural(running, "task")}{" "}
          {running === 1 ? "runs" : "run"} in this process,{" "}
          {queued === 0 ? "nothing is queued" : <span class="warn">{count(queued)} queued</span>}. What agents write is
          stored within <strong>{duration(1000 * average(read, "palaver_commit_duration_seconds"))}</strong> on average.
        </p>
        <div class="charts">
          <LineChart name="Calls" unit="a second" values={history.calls} />
          <LineChart name="Written" unit="characters a second" values={history.written} />
          <LineChart name="Commit" unit="ms on average" values={history.commit} />
          <LineChart name="Event loop" unit="ms, slowest 1 %" values={history.delay} />
        </div>
        <p class="soft">The last two minutes, as far as this page was open.</p>
        <h2 class="section">
          Nodes <small>A process that does not renew its lease loses its tasks to the others.</small>
        </h2>
        <NodeTable metrics={read} />
        <div class="panels">
          <AgentsPanel />
          <LimitsPanel server={server} />
          <HappenedPanel />
        </div>
        <h2 class="section">This process</h2>
        <dl class="facts">
          <Fact name="Tasks kept">{count(Object.values(nodes.tasks ?? {}).reduce((sum, each) => sum + each, 0))}</Fact>
          <Fact name="Parked">{count(nodes.parked ?? 0)}</Fact>
          {nodes.storeBytes !== undefined && <Fact name="Store">{bytes(nodes.storeBytes)}</Fact>}
          <Fact name="Open streams">{count(server.counts["streams"] ?? 0)}</Fact>
          <Fact name="Subscribers">{count(server.counts["subscribers"] ?? 0)}</Fact>
          <Fact name="Webhooks queued">{count(server.counts["webhooksQueued"] ?? 0)}</Fact>
          <Fact name="Runs that ignore cancel">{count(server.counts["orphans"] ?? 0)}</Fact>
          <Fact name="Store refusals">{count(server.counts["storeRefusals"] ?? 0)}</Fact>
          <Fact name="Memory">{bytes(totalOf(read, "process_resident_memory_bytes"))}</Fact>
          <Fact name="Process">{server.pid}</Fact>
        </dl>
      </div>
    </Page>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: string | number }): JSX.Element {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function NodeTable({ metrics }: { readonly metrics: readonly Metric[] }): JSX.Element {
  const now = useNow();
  const { server, nodes } = overview.value ?? {};
  return (
    <table class="rows">
      <thead>
        <tr>
          <th scope="col">Node</th>
          <th scope="col">Lease</th>
          <th scope="col" class="num">
            Tasks
          </th>
          <th scope="col" class="num">
            Memory
          </th>
          <th scope="col" class="num">
            Loop delay
          </th>
          <th scope="col" class="num">
            Up for
          </th>
        </tr>
      </thead>
      <tbody>
        {nodes?.nodes.map(({ id, isThisProcess, leaseUntil, tasks }) => (
          <tr key={id}>
            <td>
              <span class="mono">{id.slice(0, 8)}</span> {isThisProcess && <small>this process</small>}
            </td>
            <td>{leaseUntil !== undefined && <Lease left={Date.parse(leaseUntil) - now} />}</td>
            <td class="num">{count(tasks)}</td>
            <td class="num">{isThisProcess ? bytes(totalOf(metrics, "process_resident_memory_bytes")) : ""}</td>
            <td class="num">
              {isThisProcess
                ? duration(1000 * totalOf(metrics, "palaver_event_loop_delay_seconds", { percentile: "99" }))
                : ""}
            </td>
            <td class="num">
              {isThisProcess && server !== undefined ? duration(now - Date.parse(server.startedAt)) : ""}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** How much of a lease is left. The longest that was seen counts as the whole. */
function Lease({ left }: { readonly left: number }): JSX.Element {
  const most = useRef(1);
  most.current = Math.max(most.current, left);
  return (
    <span class="lease">
      <Meter share={Math.max(0, left) / most.current} kind={left > 0 ? "live" : "near"} />
      {left > 0 ? `${duration(left)} left` : `ended ${duration(-left)} ago`}
    </span>
  );
}

/** A bar from 0 to 1. */
function Meter({ share, kind = "" }: { readonly share: number; readonly kind?: string }): JSX.Element {
  return (
    <svg class={`meter ${kind}`} viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">
      <rect class="whole" width="100" height="4" rx="2" />
      <rect class="part" width={Math.max(share > 0 ? 1 : 0, Math.min(100, share * 100))} height="4" rx="2" />
    </svg>
  );
}

/** How many tasks of each agent wait, run and are kept. */
function AgentsPanel(): JSX.Element {
  const agents = overview.value?.server.agents ?? [];
  const { value } = usePolled({
    key: `agents ${agents.length}`,
    every: 10_000,
    load: async (signal) =>
      Promise.all(
        agents.slice(0, MOST_AGENTS).map(async ({ id, name }) => {
          const [working, asking] = await Promise.all(
            ["working", "input-required"].map((state) => operatorApi.tasks({ agent: id, state, limit: 100 }, signal)),
          );
          return { id, name, working: amount(working), asking: amount(asking) };
        }),
      ),
  });
  return (
    <section class="panel" aria-label="Agents">
      <h2>
        Agents <small>at work, waiting for a person</small>
      </h2>
      <ul>
        {value?.map(({ id, name, working, asking }) => (
          <li key={id}>
            <AgentFlag id={id} />
            <a class="cut" href={href(`agents/${encodeURIComponent(id)}`)}>
              {name}
            </a>
            <span class="num">{working}</span>
            <span class={asking === "0" ? "num soft" : "num warn"}>{asking}</span>
          </li>
        ))}
      </ul>
      {agents.length > MOST_AGENTS && <p class="soft">and {agents.length - MOST_AGENTS} more</p>}
    </section>
  );
}

const MOST_AGENTS = 12;

function amount(page: TaskPage | undefined): string {
  return page === undefined ? "–" : `${page.tasks.length}${page.next === undefined ? "" : "+"}`;
}

const LIMIT_NAMES: Readonly<Record<string, string>> = {
  live: "Tasks running or queued",
  subscribers: "Readers of tasks",
  streams: "Open streams",
};

/** The limits of this process, the nearest first. */
function LimitsPanel({ server }: { readonly server: ServerAnswer }): JSX.Element {
  const limits = Object.entries(server.limits ?? {})
    .flatMap(([name, most]) => (most === null ? [] : [{ name, most, now: server.counts[name] ?? 0 }]))
    .toSorted((a, b) => b.now / b.most - a.now / a.most);
  return (
    <section class="panel" aria-label="Limits">
      <h2>
        Limits <small>of this process, the nearest first</small>
      </h2>
      <ul>
        {limits.map(({ name, most, now }) => (
          <li key={name} class="limit">
            <span>{LIMIT_NAMES[name] ?? name}</span>
            <span class="num">
              {count(now)} <small>of {count(most)}</small>
            </span>
            <Meter share={now / most} kind={now / most > 0.8 ? "near" : ""} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface Happened {
  readonly at: number;
  readonly text: string;
}

/** Which processes came and went while the page was open. */
function HappenedPanel(): JSX.Element {
  const [all, setAll] = useState<readonly Happened[]>([]);
  const before = useRef<ReadonlySet<string>>(undefined);
  const nodes = overview.value?.nodes.nodes;
  useEffect(() => {
    if (nodes === undefined) return;
    const ids = new Set(nodes.map(({ id }) => id));
    const known = before.current;
    before.current = ids;
    if (known === undefined) return;
    const at = Date.now();
    const came = [...ids].filter((id) => !known.has(id)).map((id) => ({ at, text: `${id.slice(0, 8)} joined` }));
    const went = [...known].filter((id) => !ids.has(id)).map((id) => ({ at, text: `${id.slice(0, 8)} is gone` }));
    if (came.length + went.length > 0) setAll((kept) => [...went, ...came, ...kept].slice(0, 20));
  }, [nodes]);
  return (
    <section class="panel" aria-label="What happened">
      <h2>
        What happened <small>since this page is open</small>
      </h2>
      {all.length === 0 ? (
        <p class="soft">No process has come or gone.</p>
      ) : (
        <ul>
          {all.map(({ at, text }) => (
            <li key={`${at} ${text}`}>
              <span class="cut">{text}</span>
              <span class="num">
                <Moment at={at} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
