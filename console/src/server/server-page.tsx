import type { JSX } from "preact";
import { Page } from "../app/frame.tsx";
import { ApiError, operatorApi } from "../data/operator-api.ts";
import { overview } from "../data/overview.ts";
import { usePolled } from "../data/polled.ts";
import { useNow } from "../parts/moment.tsx";
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
        <h2 class="section">Nodes</h2>
        <NodeTable />
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

function NodeTable(): JSX.Element {
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
            <td>{leaseUntil === undefined ? "" : leaseWords(Date.parse(leaseUntil) - now)}</td>
            <td class="num">{count(tasks)}</td>
            <td class="num">
              {isThisProcess && server !== undefined ? duration(now - Date.parse(server.startedAt)) : ""}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function leaseWords(left: number): string {
  return left > 0 ? `valid for ${duration(left)}` : `ended ${duration(-left)} ago`;
}
