import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Agent, agent, type RemoteAgentOptions, remoteAgent, type TaskContext } from "palaver";
import { onTestFinished } from "vitest";
import { type AgentClient, connect, type Sent, type Task, textOf } from "../../src/client.ts";
import { openSite, type Site } from "../client/own-server.ts";

export const QUICK = { retry: { attempts: 1, baseDelay: 10 }, poll: { first: 10, most: 50 } };

export function taskOf(sent: Sent): Task {
  if (sent.kind !== "task") throw new Error("Expected a task, got a message.");
  return sent.task;
}

/** The text of all artifacts. */
export function answerOf(task: Task): string {
  return (task.artifacts ?? []).map(({ parts }) => textOf(parts)).join("");
}

export async function newStore(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), "palaver-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  return `sqlite:${join(directory, "store.db")}`;
}

/** An agent, and a second agent that relays to it. */
export interface Pair {
  readonly behind: AgentClient;
  readonly front: AgentClient;
  /** The ids of the tasks that the remote agent created, oldest first. */
  readonly remoteIds: readonly string[];
  /** Restarts the relaying server. */
  restart(): Promise<AgentClient>;
}

export async function relayed(
  run: (task: TaskContext) => Promise<void>,
  options: RemoteAgentOptions = {},
): Promise<Pair> {
  const remoteIds: string[] = [];
  const author: Agent = agent({
    name: "Behind",
    description: "Does the work.",
    version: "1",
    run: (task) => {
      if (!remoteIds.includes(task.id)) remoteIds.push(task.id);
      return run(task);
    },
  });
  const site = await openSite(author);
  const store = await newStore();
  const open = async (): Promise<Site> => openSite(await remoteAgent(site.url, { ...QUICK, ...options }), { store });
  let relay = await open();
  onTestFinished(async () => {
    await relay.close();
    await site.close();
  });
  return {
    behind: await connect(site.url),
    front: await connect(relay.url),
    remoteIds,
    async restart() {
      await relay.close();
      relay = await open();
      return connect(relay.url);
    },
  };
}
