import type { AgentClient } from "../../src/client/api.ts";
import { connect } from "../../src/client/connect.ts";
import {
  type Agent,
  type AgentDefinition,
  createServer,
  agent as declare,
  type Server,
  type ServerOptions,
} from "../../src/index.ts";
import { SILENT_LOGGER } from "../../src/internal/logger.ts";
import { isTerminal } from "../../src/protocol/state.ts";
import type { Task } from "../../src/protocol/task.ts";
import { createMemoryStore } from "../../src/store/memory/store.ts";

/** An agent with this `run`. */
export function agent(id: string, run: AgentDefinition<unknown>["run"], more: Partial<AgentDefinition> = {}): Agent {
  return declare({ id, name: id, description: id, version: "1", ...more, run } as AgentDefinition & { run: unknown });
}

/** A server in this process, without a port. */
export class World implements AsyncDisposable {
  server: Server;
  readonly #create: () => Server;

  constructor(agents: readonly Agent[], options: Partial<ServerOptions> = {}) {
    const store = createMemoryStore({});
    const secret = new Uint8Array(32).fill(options.serverId?.charCodeAt(0) ?? 3);
    this.#create = () => createServer(agents, { store, secret, logger: SILENT_LOGGER, drainTimeout: 0, ...options });
    this.server = this.#create();
  }

  /** Stops the server and starts another one with the same store. */
  async restart(): Promise<void> {
    await this.server.close();
    this.server = this.#create();
  }

  /** Waits until the task is in this state, or another one that is not working. */
  async until(id: string, taskId: string, state: Task["status"]["state"]): Promise<Task> {
    for (;;) {
      const task = await (await this.client(id)).task(taskId).get();
      if (task.status.state === state) return task;
      if (isTerminal(task.status.state)) throw new Error(`The task is ${task.status.state}: ${textOfTask(task)}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** The tasks of an agent. */
  async tasks(id: string): Promise<readonly Task[]> {
    return Array.fromAsync((await this.client(id)).tasks());
  }

  client(id: string): Promise<AgentClient> {
    return connect(`http://server.test/agents/${id}`, {
      fetch: (input, init) => this.server.fetch(new Request(input, init)),
    });
  }

  /** Sends a text and waits for the end of the task. */
  async run(id: string, text: string, options: Parameters<AgentClient["send"]>[1] = {}): Promise<Task> {
    const sent = await (await this.client(id)).send(text, options);
    if (sent.kind !== "task") throw new Error("The agent answered without a task.");
    return sent.task;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.close();
  }
}

export function textOfTask({ artifacts = [], status }: Task): string {
  const parts = [
    ...artifacts.flatMap((artifact) => artifact.parts),
    ...(artifacts.length === 0 ? (status.message?.parts ?? []) : []),
  ];
  return parts.map(({ text = "" }) => text).join("");
}
