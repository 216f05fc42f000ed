import type { Bus } from "../bus/contract.ts";
import { createMemoryBus } from "../bus/memory/bus.ts";
import { type Agent, type AgentDefinition, agent } from "../engine/agent/agent.ts";
import type { Submission, Submitted, SubscribeOptions, Subscription, Ticket } from "../engine/api.ts";
import { createEngine } from "../engine/engine.ts";
import type { EngineOptions, RunningEngine } from "../engine/engine-options.ts";
import type { Logger } from "../internal/logger.ts";
import type { TaskEvent } from "../protocol/event.ts";
import type { MessageId, TaskId } from "../protocol/ids.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import { ANONYMOUS, type Scope } from "../protocol/principal.ts";
import { readEvent, readTask } from "../protocol/serial.ts";
import { isInterrupted, isTerminal } from "../protocol/state.ts";
import type { Task } from "../protocol/task.ts";
import type { TraceContext } from "../protocol/trace-context.ts";
import type { Retention, Store } from "../store/contract.ts";
import { createMemoryStore } from "../store/memory/store.ts";
import { ControlledStore } from "./controlled-store.ts";
import { FakeClock } from "./fake-clock.ts";

export interface HarnessOptions extends Partial<Omit<EngineOptions, "agents" | "store" | "bus" | "clock">> {
  readonly agents: Agent | readonly Agent[];
  /** Opens the store that this engine shares with the engines of `join` and `crash`. Default: in memory, with `retention`. */
  readonly openStore?: (setup: { readonly retention: Retention; readonly now: () => number }) => Store | Promise<Store>;
  readonly retention?: Retention;
  /** Wraps the shared store for each engine, so engines get delays or failures and the checks of a test do not. */
  readonly wrapStore?: (store: Store) => Store;
}

export interface SendOptions extends Pick<Submission, "webhook" | "idempotencyWindow" | "admitSkill"> {
  readonly owner?: string;
  readonly tenant?: string;
  /** The id of the agent. Default: the first agent. */
  readonly agent?: string;
  readonly metadata?: JsonObject;
  readonly outputModes?: readonly string[];
  readonly extensions?: readonly string[];
  readonly streaming?: boolean;
  readonly namesTask?: boolean;
  readonly tasksOnly?: boolean;
  readonly timeoutMs?: number;
  readonly trace?: TraceContext;
  readonly signal?: AbortSignal;
}

export interface NumberedEvent {
  readonly seq: number;
  readonly event: TaskEvent;
}

export interface LogLine {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  readonly details: object | undefined;
}

/** A message to send: its text, or some of its fields. */
export type MessageInput = string | Partial<Message>;

/** What the engines over one store share. */
interface World {
  readonly store: Store;
  readonly bus: Bus;
  readonly clock: FakeClock;
  readonly harnesses: EngineHarness[];
}

let count = 0;

/** An engine with its surroundings: a store whose commits can be held, a fake clock, a bus and collected logs. */
export class EngineHarness implements AsyncDisposable {
  readonly engine: RunningEngine;
  /** This engine's own handle on the store. */
  readonly store: ControlledStore;
  /** The store itself, which outlives a crash. */
  readonly shared: Store;
  readonly clock: FakeClock;
  readonly bus: Bus;
  readonly node: string;
  readonly logs: LogLine[] = [];
  /** The errors passed to `onFatal`. */
  readonly fatal: unknown[] = [];
  readonly #options: HarnessOptions;
  readonly #agents: readonly Agent[];
  readonly #world: World;
  #dead = false;

  constructor(world: World, options: HarnessOptions) {
    const { agents, openStore: _open, retention: _retention, wrapStore, ...engineOptions } = options;
    this.#world = world;
    this.#options = options;
    this.#agents = "id" in agents ? [agents] : agents;
    this.shared = world.store;
    this.bus = world.bus;
    this.clock = world.clock;
    this.node = options.node ?? `node-${++count}`;
    this.store = new ControlledStore(wrapStore?.(world.store) ?? world.store);
    this.engine = createEngine({
      logger: this.#logger(),
      secret: new Uint8Array(32).fill(7),
      onFatal: (error) => void this.fatal.push(error),
      ...engineOptions,
      node: this.node,
      agents: this.#agents,
      store: this.store,
      bus: world.bus,
      clock: world.clock,
    });
    world.harnesses.push(this);
  }

  /** Opens an engine over a new store and starts it. */
  static async open(options: HarnessOptions): Promise<EngineHarness> {
    const clock = new FakeClock();
    const { openStore = createMemoryStore, retention = {} } = options;
    const store = await openStore({ retention, now: () => clock.now() });
    const harness = new EngineHarness({ store, clock, bus: createMemoryBus(), harnesses: [] }, options);
    await harness.engine.start();
    return harness;
  }

  /** Starts a second engine over the same store. */
  async join(changes: Partial<HarnessOptions> = {}): Promise<EngineHarness> {
    const { node: _node, ...options } = this.#options;
    const other = new EngineHarness(this.#world, { ...options, ...changes });
    const started = other.engine.start();
    // The engine retries after failures of a wrapped store, so the clock must move.
    await (options.wrapStore === undefined ? started : this.pumped(started));
    return other;
  }

  /**
   * Simulates `kill -9`: the engine writes and receives nothing more, and its leases end. Resolves with another started engine over the
   * same store. Held commits are lost, unless they were held after they were applied.
   */
  async crash(changes: Partial<HarnessOptions> = {}): Promise<EngineHarness> {
    await this.kill();
    return this.join(changes);
  }

  /** As `crash`, but starts no other engine. */
  async kill(): Promise<void> {
    this.#dead = true;
    this.store.cut();
    await this.shared.leave(this.node);
  }

  /** Closes the engine; the clock moves meanwhile. */
  async stop(): Promise<void> {
    if (this.#dead || this.fatal.length > 0) return;
    this.store.failAlways(undefined);
    this.store.release();
    await this.pumped(this.engine.close());
    this.#dead = true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const harness of this.#world.harnesses) await harness.stop();
    await this.#world.store.close();
  }

  get agentIds(): readonly string[] {
    return this.#agents.map(({ id }) => id);
  }

  scope(options: SendOptions = {}): Scope {
    const { agent = this.#agents[0]?.id ?? "", tenant = "", owner = ANONYMOUS.id } = options;
    return { agent, tenant, owner };
  }

  async submit(input: MessageInput, options: SendOptions = {}): Promise<Submitted> {
    const {
      owner,
      metadata = {},
      outputModes = [],
      extensions = [],
      streaming = false,
      namesTask = false,
      tasksOnly = false,
      timeoutMs,
      trace,
      webhook,
      idempotencyWindow,
      admitSkill,
      signal = new AbortController().signal,
    } = options;
    return this.engine.submit({
      call: {
        principal: owner === undefined ? ANONYMOUS : { id: owner, anonymous: false },
        dialect: "test",
        policy: { namesTasks: namesTask, tasksOnly },
        activeExtensions: extensions,
        trace,
        signal,
      },
      request: {
        operation: streaming ? "stream" : "send",
        message: messageFrom(input),
        metadata,
        outputModes,
        ...(timeoutMs !== undefined && { timeoutMs }),
      },
      scope: this.scope(options),
      webhook,
      idempotencyWindow,
      admitSkill,
    });
  }

  /** Sends a message that starts or continues a task. Resolves once the message is committed. */
  async start(input: MessageInput, options: SendOptions = {}): Promise<Ticket> {
    const ticket = await this.begin(input, options);
    await ticket.stored();
    return ticket;
  }

  /** As `start`, but without waiting for the commit. */
  async begin(input: MessageInput, options: SendOptions = {}): Promise<Ticket> {
    const submitted = await this.submit(input, options);
    if (submitted.kind !== "task") throw new Error("The agent answered with a message; the test needs a task.");
    return submitted.ticket;
  }

  /** Sends a message, waits until the task ends or asks a question, and resolves with the committed task. */
  async send(input: MessageInput, options: SendOptions = {}): Promise<Task> {
    const ticket = await this.begin(input, options);
    await this.settled(ticket);
    return this.get(ticket.taskId, options);
  }

  settled(ticket: Ticket, signal: AbortSignal = new AbortController().signal): Promise<void> {
    return ticket.settled({ signal });
  }

  /** The committed task, with artifacts and history. */
  async get(id: TaskId, options: SendOptions = {}): Promise<Task> {
    const task = await this.find(id, options);
    if (task === undefined) throw new Error(`There is no task ${id}.`);
    return task;
  }

  async find(id: TaskId, options: SendOptions = {}): Promise<Task | undefined> {
    const stored = await this.engine.snapshot(this.scope(options), id, { artifacts: true });
    return stored === undefined ? undefined : readTask(stored);
  }

  async subscribe(id: TaskId, options: SubscribeOptions = {}, who: SendOptions = {}): Promise<Subscription> {
    const subscription = await this.engine.subscribe(this.scope(who), id, options);
    if (subscription === undefined) throw new Error(`There is no task ${id}.`);
    return subscription;
  }

  /** All events after `after` until the task ends, or with `untilAsked` until it asks a question. */
  async collect(
    id: TaskId,
    options: { readonly after?: number; readonly untilAsked?: boolean } = {},
  ): Promise<NumberedEvent[]> {
    const subscription = await this.subscribe(id, { after: options.after ?? 0 });
    const events: NumberedEvent[] = [];
    try {
      for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next()) {
        for (const { seq, body } of batch.entries) events.push({ seq, event: readEvent(body) });
        const last = events.at(-1)?.event;
        if (options.untilAsked === true && last?.kind === "status" && isInterrupted(last.status.state)) break;
      }
    } finally {
      subscription.close();
    }
    return events;
  }

  /** The whole stored log, without a check of the scope. */
  async log(id: TaskId): Promise<NumberedEvent[]> {
    const entries = await this.shared.log(id, 0, Number.POSITIVE_INFINITY);
    return entries.map(({ seq, body }) => ({ seq, event: readEvent(body) }));
  }

  /** The log in short: `working`, `working:text`, `result+=text`, `result=text`; a last chunk ends with `!`. */
  async story(id: TaskId): Promise<string[]> {
    return (await this.log(id)).map(({ event }) => eventText(event));
  }

  /** Moves the clock in steps of `step` ms and turns the event loop after each, so started work can progress. */
  async advance(milliseconds: number, step = 500): Promise<void> {
    for (let left = milliseconds; left > 0; left -= step) {
      await this.clock.advance(Math.min(step, left));
      await turns(5);
    }
    await turns(5);
  }

  /** Turns the event loop until the condition is true. Throws after 3 s of real time. */
  async until(condition: () => boolean | Promise<boolean>, what = "the condition"): Promise<void> {
    const giveUp = performance.now() + 3000;
    while (performance.now() < giveUp) {
      if (await condition()) return;
      await turns(1);
    }
    throw new Error(`Waited 3 s for ${what}.`);
  }

  /** Waits until the committed task has this state. */
  async untilState(id: TaskId, state: Task["status"]["state"], options: SendOptions = {}): Promise<void> {
    await this.until(async () => (await this.find(id, options))?.status.state === state, `task ${id} to be ${state}`);
  }

  /** Moves the clock until the promise settles. Throws after 3 s of real time. */
  async pumped<T>(work: Promise<T>): Promise<T> {
    let done = false;
    const finished = work.finally(() => {
      done = true;
    });
    finished.catch(() => {});
    const giveUp = performance.now() + 3000;
    for (let tries = 0; performance.now() < giveUp && !done; tries += 1) {
      await turns(1);
      if (tries % 10 === 9 && !done) await this.clock.advance(100);
    }
    if (!done) throw new Error("The promise did not settle within 3 s, although the fake clock moved.");
    return finished;
  }

  #logger(): Logger {
    const at =
      (level: LogLine["level"]) =>
      (message: string, details?: object): void =>
        void this.logs.push({ level, message, details });
    return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  }
}

export function openHarness(options: HarnessOptions): Promise<EngineHarness> {
  return EngineHarness.open(options);
}

/** An agent that runs the given function. */
export function scripted(run: NonNullable<AgentDefinition["run"]>, rest: Partial<AgentDefinition> = {}): Agent {
  return agent({ name: "Scripted", description: "Runs the function of a test.", version: "1", run, ...rest });
}

/** Lets the event loop turn the given number of times. */
export async function turns(times: number): Promise<void> {
  for (let turn = 0; turn < times; turn += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}

export function messageFrom(input: MessageInput): Message {
  const members = typeof input === "string" ? { parts: [{ text: input }] } : input;
  // Safe: the sender chooses the message id, and the sender is the test.
  return { messageId: crypto.randomUUID() as MessageId, role: "user", parts: [{ text: "" }], ...members };
}

export function eventText(event: TaskEvent): string {
  if (event.kind === "status") {
    const text = (event.status.message?.parts ?? [])
      .map(({ text: words, data }) => words ?? JSON.stringify(data))
      .join("");
    return text === "" ? event.status.state : `${event.status.state}:${text}`;
  }
  const content = event.artifact.parts.map(({ text, data }) => text ?? JSON.stringify(data)).join("");
  return `${event.artifact.artifactId}${event.append ? "+=" : "="}${content}${event.lastChunk ? "!" : ""}`;
}

/** The number of terminal status events. */
export function endings(events: readonly NumberedEvent[]): number {
  return events.filter(({ event }) => event.kind === "status" && isTerminal(event.status.state)).length;
}
