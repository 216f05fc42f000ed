import { strictEqual } from "node:assert";
import type { ErrorCode } from "palaver";
import { AnswerInspector } from "./answer-inspector.ts";
import type { Ability, Answer, ClientLine, Peer, SeenEvent, SeenTask } from "./client-line.ts";
import type { Gates } from "./gates.ts";
import { type Binding, type ScenarioGroup as Group, whyNot } from "./line.ts";
import { WireRecord } from "./wire-record.ts";

/** Scenarios for every client, with their expected results. */
export type ScenarioGroup = Group<ScenarioSetup, Ability>;

interface SetupOptions {
  readonly line: ClientLine;
  readonly binding: Binding;
  readonly url: string;
  readonly gates: Gates;
  /** The address of a server whose first agent is this one. */
  readonly rootOf: (agent: string) => Promise<string>;
}

/** One client with the server, over one binding. */
export class ScenarioSetup {
  readonly line: ClientLine;
  readonly binding: Binding;
  readonly url: string;
  readonly gates: Gates;
  readonly rootOf: SetupOptions["rootOf"];
  readonly inspector: AnswerInspector;
  readonly wire: WireRecord;
  readonly #peers = new Map<string, Promise<Peer>>();
  #names = 0;

  constructor({ line, binding, url, gates, rootOf }: SetupOptions) {
    this.rootOf = rootOf;
    this.line = line;
    this.binding = binding;
    this.url = url;
    this.gates = gates;
    this.inspector = new AnswerInspector(line, binding);
    this.wire = new WireRecord(this.inspector.inspect);
  }

  /** Connects the client to one agent, anonymous or with credentials. */
  connect(agent: string, credentials?: string): Promise<Peer> {
    const key = JSON.stringify([agent, credentials]);
    const known = this.#peers.get(key);
    if (known !== undefined) return known;
    const { line, binding, wire } = this;
    const peer = this.addressOf(agent).then((address) =>
      line.connect(address, { binding, fetch: wire.fetch, ...(credentials !== undefined && { credentials }) }),
    );
    this.#peers.set(key, peer);
    return peer;
  }

  /** Requests of 0.3 over gRPC cannot name one of several agents, so each agent has a server of its own there. */
  async addressOf(agent: string): Promise<string> {
    if (this.binding === "GRPC" && this.line.protocol === "0.3") return this.rootOf(agent);
    return `${this.url}/agents/${agent}/`;
  }

  can(ability: Ability): boolean {
    return whyNot(this.line, this.binding, ability) === undefined;
  }

  /** An unused name, because gates are shared. */
  unusedName(): string {
    this.#names++;
    return `${this.line.version} ${this.binding} ${this.#names}`;
  }

  /** The client's name for the error, or that there was none. */
  async refusal(work: Promise<unknown> | AsyncIterable<unknown>): Promise<string> {
    try {
      if (Symbol.asyncIterator in work) for await (const _ of work);
      else await work;
    } catch (thrown) {
      return this.line.nameOf(thrown);
    }
    return "no error";
  }

  async refused(work: Promise<unknown> | AsyncIterable<unknown>, error: ErrorCode): Promise<void> {
    strictEqual(await this.refusal(work), error);
  }
}

/** An id that no task has. */
export const NOBODY = "01890000-0000-7000-8000-000000000000";

export function taskOf(answer: Answer | undefined): SeenTask {
  if (answer?.kind === "task") return answer.task;
  throw new Error(`Not a task: ${JSON.stringify(answer)}`);
}

export async function all(stream: AsyncIterable<SeenEvent>): Promise<readonly SeenEvent[]> {
  return Array.fromAsync(stream);
}

/** The text of all artifacts, in one chunk or many. */
export function textIn(from: SeenTask | readonly SeenEvent[]): string {
  const artifacts = "artifacts" in from ? from.artifacts : from.flatMap((event) => artifactsOf(event));
  return artifacts.flatMap(({ parts }) => parts.map(({ text }) => text ?? "")).join("");
}

function artifactsOf(event: SeenEvent) {
  if (event.kind === "artifact") return [event.artifact];
  return event.kind === "task" ? event.task.artifacts : [];
}

/** The state of a task or event; `undefined` if it has none. */
export function stateIn(event: SeenEvent | undefined): string | undefined {
  if (event?.kind === "status") return event.state;
  return event?.kind === "task" ? event.task.state : undefined;
}

export const questionOf = ({ message }: SeenTask): string | undefined =>
  message?.parts.map(({ text }) => text).join("");
