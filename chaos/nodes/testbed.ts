import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ended, nextMessage, startChild } from "../child.ts";
import type { ClientCommand, ClientSetup } from "../client/main.ts";
import { createRandom } from "../random.ts";
import type { ReceiverSetup } from "../receiver.ts";
import { UnreliableProxy } from "../unreliable-proxy.ts";
import { ChaosDatabase } from "./database.ts";
import { DatabaseProxy } from "./database-proxy.ts";
import { ChaosNode } from "./node.ts";
import type { NodesOptions } from "./options.ts";

/** Nodes on one database, with clients, a webhook receiver and proxies between all of them. */
export interface NodesTestbed {
  readonly folder: string;
  readonly journals: { readonly clients: readonly string[]; readonly receiver: string; readonly steps: string };
  readonly database: ChaosDatabase;
  /** Between the callers and the nodes, in turn. */
  readonly proxy: UnreliableProxy;
  readonly nodes: readonly ChaosNode[];
  readonly clients: readonly ChildProcess[];
  sendToClients(command: ClientCommand): void;
  /** Shuts the nodes down regularly and ends the clients. The database goes on. */
  closeNodes(): Promise<void>;
  close(): Promise<void>;
}

export async function openNodesTestbed(options: NodesOptions): Promise<NodesTestbed> {
  const { seed, concurrency, nodeOptions, lease } = options;
  if (options.dir !== undefined) mkdirSync(options.dir, { recursive: true });
  const folder = mkdtempSync(join(options.dir ?? tmpdir(), "palaver-chaos-nodes-"));
  const file = (name: string): string => join(folder, name);
  const journals = {
    clients: Array.from({ length: options.clients }, (_, client) => file(`client-${client}.jsonl`)),
    receiver: file("receiver.jsonl"),
    steps: file("steps.jsonl"),
  };
  const database = await ChaosDatabase.start();
  const proxy = await UnreliableProxy.start(createRandom(`${seed}/proxy`));
  const receiver = startChild({
    script: "receiver.ts",
    setup: { journal: journals.receiver, seed: `${seed}/receiver`, failures: 0.1 } satisfies ReceiverSetup,
    log: file("receiver.log"),
  });
  const hooks = (await nextMessage<{ readonly url: string }>(receiver))?.url ?? "";
  const nodes = await Promise.all(
    Array.from({ length: options.nodes }, async (_, index) => {
      const proxies = {
        store: await DatabaseProxy.start(database.port),
        hints: await DatabaseProxy.start(database.port),
      };
      return new ChaosNode({
        index,
        proxies,
        log: file(`node-${index}.log`),
        nodeOptions,
        onStart: (url) => proxy.leadTo(url, index),
        setupOf: (process) => ({
          database: database.urlFor(process, proxies.store.port),
          hints: database.urlFor(process, proxies.hints.port),
          steps: journals.steps,
          publicUrl: proxy.url,
          ...(lease !== undefined && { lease }),
        }),
      });
    }),
  );
  await Promise.all(nodes.map((node) => node.start()));
  const clients = journals.clients.map((journal, client) => {
    const setup: ClientSetup = { url: proxy.url, hooks, journal, seed: `${seed}/tasks`, client, concurrency };
    return startChild({ script: "client/main.ts", setup, log: file(`client-${client}.log`) });
  });
  return {
    folder,
    journals,
    database,
    proxy,
    nodes,
    clients,
    sendToClients(command) {
      for (const client of clients) if (client.connected) client.send(command);
    },
    async closeNodes() {
      await Promise.all(nodes.map((node) => node.stop()));
      for (const child of [...clients, receiver]) child.kill("SIGKILL");
      await Promise.all([...clients, receiver].map(ended));
      await proxy.close();
      await Promise.all(nodes.flatMap(({ proxies }) => [proxies.store.close(), proxies.hints.close()]));
    },
    close: () => database.stop(),
  };
}
