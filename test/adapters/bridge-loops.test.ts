import { type Agent, agent, type RemoteAgentOptions, remoteAgent, type ServerOptions } from "palaver";
import { describe, expect, it, onTestFinished } from "vitest";
import { connect, type Task, textOf } from "../../src/client.ts";
import { openSite } from "../client/own-server.ts";
import { until } from "../e2e/workbench.ts";
import { QUICK } from "./relaying.ts";

interface RingOptions {
  readonly size: number;
  readonly server?: ServerOptions;
  /** The versions of each server, if they differ. */
  readonly versions?: readonly string[];
  /** How each bridge calls the next server. */
  readonly bridge?: RemoteAgentOptions;
}

interface Ring {
  readonly urls: readonly string[];
  /** The ids of the tasks that the servers of the ring have created. */
  readonly made: ReadonlySet<string>;
}

const placeholder = (): Agent => agent({ name: "Bridge", description: "Bridges.", version: "1", run: async () => "x" });

/** Starts servers that each bridge to the next; the last bridges to the first. */
async function openRing({ size, server = {}, versions = [], bridge = {} }: RingOptions): Promise<Ring> {
  const made = new Set<string>();
  const optionsOf = (index: number): ServerOptions => {
    const version = versions[index];
    return version === undefined ? server : { ...server, versions: [version] };
  };
  const options = {
    on: { event: (_: unknown, task: { readonly id: string }) => void made.add(task.id) },
  };
  // A bridge fetches the card of the next server when it is created. Until all bridges exist, placeholder agents
  // serve a card at each address.
  const places = await Promise.all(
    Array.from({ length: size }, (_, index) => openSite(placeholder(), optionsOf(index))),
  );
  const urls = places.map(({ url }) => url);
  const bridges = await Promise.all(
    urls.map((_, index) => remoteAgent(urls[(index + 1) % size] ?? "", { ...QUICK, ...bridge })),
  );
  for (const place of places) await place.close();
  for (const [index, made] of bridges.entries()) {
    const port = Number(new URL(urls[index] ?? "").port);
    const site = await openSite(made, { ...optionsOf(index), ...options, port });
    onTestFinished(site.close);
  }
  return { urls, made };
}

/** Sends one message to the first server and waits until its task ends or there are too many tasks. */
async function sendInto({ urls, made }: Ring, tooMany: number): Promise<Task> {
  const front = await connect(urls[0] ?? "", QUICK);
  const sent = await front.send("Hello", { wait: false });
  if (sent.kind !== "task") throw new Error("Expected a task, got a message.");
  const get = (): Promise<Task> => front.task(sent.task.id).get();
  await until(async () => made.size > tooMany || (await get()).status.state === "failed");
  return get();
}

const failureOf = ({ status }: Task): string => textOf(status.message?.parts ?? []);

describe("bridges in a loop", () => {
  it.each<[string, Omit<RingOptions, "size">]>([
    ["1.0 JSON-RPC", { server: { versions: ["1.0"] }, bridge: { binding: "JSONRPC" } }],
    ["1.0 REST", { server: { versions: ["1.0"] }, bridge: { binding: "HTTP+JSON" } }],
    ["0.3 JSON-RPC", { server: { versions: ["0.3"] }, bridge: { binding: "JSONRPC" } }],
    ["0.3 REST", { server: { versions: ["0.3"] }, bridge: { binding: "HTTP+JSON" } }],
    ["0.2 JSON-RPC", { server: { versions: ["0.2"] } }],
    ["0.1 JSON-RPC", { server: { versions: ["0.1"] } }],
  ])("create one task on each of two servers and fail with a message that names the loop (%s)", async (_, options) => {
    const ring = await openRing({ size: 2, ...options });
    const task = await sendInto(ring, 2);
    expect(ring.made.size).toBe(2);
    expect(task.status.state).toBe("failed");
    expect(failureOf(task)).toContain("Loop detected");
  });

  it("are detected if a proxy removes all unknown headers", async () => {
    const known = ["accept", "content-type", "a2a-version"];
    const ring = await openRing({
      size: 2,
      bridge: {
        fetch: (url, { headers, ...init } = {}) => {
          const kept = [...new Headers(headers)].filter(([name]) => known.includes(name));
          return fetch(url, { ...init, headers: kept });
        },
      },
    });
    expect(failureOf(await sendInto(ring, 2))).toContain("Loop detected");
    expect(ring.made.size).toBe(2);
  });

  it("are detected if a proxy removes the metadata of requests", async () => {
    const ring = await openRing({
      size: 2,
      bridge: {
        fetch: (url, init = {}) => {
          const { body } = init;
          if (typeof body !== "string") return fetch(url, init);
          const { params, ...envelope } = JSON.parse(body);
          return fetch(url, { ...init, body: JSON.stringify({ ...envelope, params: { ...params, metadata: {} } }) });
        },
      },
    });
    expect(failureOf(await sendInto(ring, 2))).toContain("Loop detected");
    expect(ring.made.size).toBe(2);
  });

  it.each([
    ["1.0", "0.3"],
    ["0.3", "1.0"],
    ["0.1", "1.0"],
    ["0.3", "0.1"],
  ])("are detected if one server uses %s and the other %s", async (...versions) => {
    const ring = await openRing({ size: 2, versions });
    expect(failureOf(await sendInto(ring, 2))).toContain("Loop detected");
    expect(ring.made.size).toBe(2);
  });

  it("create one task on each of three servers", async () => {
    const ring = await openRing({ size: 3 });
    expect(failureOf(await sendInto(ring, 3))).toContain("Loop detected");
    expect(ring.made.size).toBe(3);
  });
});
