import { strictEqual } from "node:assert";
import {
  type AgentClient,
  type ConnectOptions,
  connect,
  RemoteError,
  type RemoteErrorCode,
  type Sent,
  type Task,
} from "../../src/client.ts";
import { type Binding, type ScenarioGroup as Group, whyNot } from "../peers/line.ts";
import { WireRecord } from "../peers/wire-record.ts";
import type { Ability, OfficialServer, Profile, ServerLine } from "./server-line.ts";

/** Scenarios for the client with every server, with their expected results. */
export type ScenarioGroup = Group<ScenarioSetup, Ability>;

/** The client with the servers of one library, over one binding. */
export class ScenarioSetup {
  readonly line: ServerLine;
  readonly binding: Binding;
  readonly wire: WireRecord = new WireRecord(() => {});
  readonly #servers = new Map<Profile, Promise<OfficialServer>>();

  constructor(line: ServerLine, binding: Binding) {
    this.line = line;
    this.binding = binding;
  }

  /** Connects to the agent of a server by its card. */
  async connect(profile: Profile = "able", options: ConnectOptions = {}): Promise<AgentClient> {
    const { url } = await this.serving(profile);
    return connect(url, { fetch: this.wire.fetch, prefer: [this.binding], poll: { first: 5, most: 20 }, ...options });
  }

  can(ability: Ability): boolean {
    return whyNot(this.line, this.binding, ability) === undefined;
  }

  /** gRPC has one status for invalid requests and invalid parameters. */
  get finishedTask(): RemoteErrorCode {
    const { finishedTask } = this.line.rules;
    return this.binding === "GRPC" && finishedTask === "invalid-request" ? "invalid-params" : finishedTask;
  }

  serving(profile: Profile): Promise<OfficialServer> {
    const known = this.#servers.get(profile) ?? this.line.start({ binding: this.binding, profile });
    this.#servers.set(profile, known);
    return known;
  }

  async refused(work: Promise<unknown>, code: RemoteErrorCode): Promise<RemoteError> {
    try {
      await work;
    } catch (thrown) {
      if (!(thrown instanceof RemoteError)) throw thrown;
      strictEqual(thrown.code, code, thrown.message);
      return thrown;
    }
    throw new Error(`It was not refused with ${code}.`);
  }

  async close(): Promise<void> {
    for (const server of this.#servers.values()) await (await server).close();
  }
}

/** An id that no task has. */
export const NOBODY = "01890000-0000-7000-8000-000000000000";

export function taskOf(sent: Sent): Task {
  if (sent.kind !== "task") throw new Error("A message came instead of a task.");
  return sent.task;
}

/** The text of all artifacts. */
export function answerOf(task: Task | undefined): string {
  return (task?.artifacts ?? []).flatMap(({ parts }) => parts.map(({ text }) => text ?? "")).join("");
}
