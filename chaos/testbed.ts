import type { ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync } from "node:fs";
import { devNull, tmpdir } from "node:os";
import { join } from "node:path";
import type { Retention } from "../src/store/contract.ts";
import type { StoreFaults } from "../src/testing/unreliable-store.ts";
import { ended, nextMessage, startChild } from "./child.ts";
import type { ClientCommand, ClientSetup } from "./client/main.ts";
import { createRandom } from "./random.ts";
import type { ReceiverSetup } from "./receiver.ts";
import { Supervisor } from "./supervisor.ts";
import { UnreliableProxy } from "./unreliable-proxy.ts";

export interface TestbedOptions {
  /** Parent folder of the run's folder; absent: the system's temporary folder. */
  readonly dir: string | undefined;
  /** Prefix of the folder's name. */
  readonly name: string;
  readonly seed: string;
  readonly clients: number;
  readonly concurrency: number;
  /** Node options of the server. */
  readonly nodeOptions: readonly string[];
  /** Whether processes write journals. */
  readonly journals: boolean;
  /** The probability that the receiver fails. */
  readonly receiverFailures: number;
  readonly faults?: StoreFaults | undefined;
  readonly retention?: Retention;
}

/** A running server with its clients, a webhook receiver and a proxy between them, with their files in one folder. */
export interface Testbed {
  readonly folder: string;
  readonly database: string;
  readonly journals: { readonly clients: readonly string[]; readonly receiver: string; readonly steps: string };
  readonly proxy: UnreliableProxy;
  readonly supervisor: Supervisor;
  readonly clients: readonly ChildProcess[];
  readonly receiver: ChildProcess;
  sendToClients(command: ClientCommand): void;
  /** Shuts the server down regularly and kills the other processes. */
  close(): Promise<void>;
}

export async function openTestbed(options: TestbedOptions): Promise<Testbed> {
  const { seed, concurrency, nodeOptions, faults, retention } = options;
  if (options.dir !== undefined) mkdirSync(options.dir, { recursive: true });
  const folder = mkdtempSync(join(options.dir ?? tmpdir(), `palaver-${options.name}-`));
  const file = (name: string): string => join(folder, name);
  const journalOf = (name: string): string => (options.journals ? file(`${name}.jsonl`) : devNull);
  const database = file("tasks.db");
  const journals = {
    clients: Array.from({ length: options.clients }, (_, client) => journalOf(`client-${client}`)),
    receiver: journalOf("receiver"),
    steps: journalOf("steps"),
  };
  const proxy = await UnreliableProxy.start(createRandom(`${seed}/proxy`));
  const { receiverFailures: failures } = options;
  const receiver = startChild({
    script: "receiver.ts",
    setup: { journal: journals.receiver, seed: `${seed}/receiver`, failures } satisfies ReceiverSetup,
    log: file("receiver.log"),
  });
  const hooks = (await nextMessage<{ readonly url: string }>(receiver))?.url ?? "";
  const supervisor = new Supervisor({
    setup: {
      database,
      steps: journals.steps,
      publicUrl: proxy.url,
      seed: `${seed}/server`,
      ...(faults !== undefined && { faults }),
      ...(retention !== undefined && { retention }),
    },
    log: file("server.log"),
    nodeOptions,
    onStart: (url) => proxy.leadTo(url),
  });
  await supervisor.start();
  const clients = journals.clients.map((journal, client) => {
    const setup: ClientSetup = { url: proxy.url, hooks, journal, seed: `${seed}/tasks`, client, concurrency };
    return startChild({ script: "client/main.ts", setup, log: file(`client-${client}.log`) });
  });
  return {
    folder,
    database,
    journals,
    proxy,
    supervisor,
    clients,
    receiver,
    sendToClients(command) {
      for (const client of clients) if (client.connected) client.send(command);
    },
    async close() {
      await supervisor.stop();
      for (const child of [...clients, receiver]) child.kill("SIGKILL");
      await Promise.all([...clients, receiver].map(ended));
      await proxy.close();
    },
  };
}
