import { createMemoryBus } from "../../bus/memory/bus.ts";
import type { MessageInput } from "../../client/api.ts";
import { messageOf } from "../../client/message-input.ts";
import type { Agent } from "../../engine/agent/agent.ts";
import type { Ticket } from "../../engine/api.ts";
import { readRunner } from "../../engine/record/runner-record.ts";
import type { Logger } from "../../internal/logger.ts";
import type { TaskId } from "../../protocol/ids.ts";
import { answerMetadata, namedRequests } from "../../protocol/input-request.ts";
import type { Message } from "../../protocol/message.ts";
import { ANONYMOUS, type Scope } from "../../protocol/principal.ts";
import { readEvent, readTask } from "../../protocol/serial.ts";
import { isInterrupted, isTerminal } from "../../protocol/state.ts";
import type { Store, TaskRecord } from "../../store/contract.ts";
import { createMemoryStore } from "../../store/memory/store.ts";
import type {
  AgentTest,
  CrashOptions,
  TaskReference,
  TestAgentOptions,
  TestLogLine,
  TestSendOptions,
} from "./agent-test.ts";
import { EngineNode } from "./engine-node.ts";
import { TestClock } from "./test-clock.ts";
import { type TestedEvent, type TestedTask, testedTask } from "./tested-task.ts";

/** Milliseconds in which a message that is sent again makes no second task. */
const IDEMPOTENCY_WINDOW = 24 * 3_600_000;
/** Turns of the event loop without a change, after which a message that waits in the inbox is left there: the agent does not ask for it now. */
const LEFT_IN_INBOX = 200;
/** Tasks of one call tree that the clock moves for. */
const MAX_CALLED = 200;
/** Turns of the event loop that a task gets to go on, after the clock has moved. */
const TURNS = 100;

/** How a test is killed by itself. */
export interface PlannedCrash {
  /** Kills the server when this many commits are stored. */
  readonly afterCommits: number;
}

/** `testAgent`, and what `testCrashes` needs besides. */
export class RunningTest implements AgentTest {
  readonly #clock: TestClock;
  readonly #store: Store;
  readonly #bus = createMemoryBus();
  readonly #skipSleeps: boolean;
  readonly #crashAt: number;
  readonly #tasks = new Map<TaskId, Scope>();
  #node: EngineNode;
  #nodes = 0;
  #restart: Promise<void> | undefined;
  readonly logs: TestLogLine[] = [];
  /** The number of commits that have changed a task. */
  commits = 0;

  constructor(agents: Agent | readonly Agent[], options: TestAgentOptions, crash?: PlannedCrash) {
    const { now = Date.UTC(2030, 0, 1), skipSleeps = true } = options;
    this.#clock = new TestClock(now);
    this.#store = createMemoryStore({ now: () => this.#clock.now() });
    this.#skipSleeps = skipSleeps;
    this.#crashAt = crash?.afterCommits ?? Number.POSITIVE_INFINITY;
    this.#node = this.#newNode(listOf(agents));
  }

  async begin(): Promise<void> {
    await this.#node.start();
  }

  /** All tasks of the test, in the order they were sent. */
  async tasks(): Promise<readonly TestedTask[]> {
    return Promise.all([...this.#tasks.keys()].map((id) => this.get(id)));
  }

  async send(message: MessageInput, options: TestSendOptions = {}): Promise<TestedTask> {
    return this.wait(await this.#submit(message, options));
  }

  async *stream(message: MessageInput, options: TestSendOptions = {}): AsyncGenerator<TestedEvent> {
    const id = await this.#submit(message, options);
    let seq = 0;
    for await (const record of this.#changes(id)) {
      const events = record.seq > seq ? await this.#events(id, seq) : [];
      for (const event of events) {
        seq = event.seq;
        yield event;
      }
    }
  }

  async start(message: MessageInput, options: TestSendOptions = {}): Promise<TestedTask> {
    return this.get(await this.#submit(message, options));
  }

  async answer(task: TaskReference, answer: MessageInput): Promise<TestedTask> {
    const { id, question, state } = await this.get(task);
    if (isTerminal(state)) throw new Error(`The task is ${state}: it takes no answer.`);
    const given = messageOf(answer, { taskId: id });
    const { requestId } = question ?? {};
    const isNamed = requestId === undefined || namedRequests(given).length > 0;
    const message = isNamed ? given : { ...given, metadata: { ...given.metadata, ...answerMetadata(requestId) } };
    const before = (await this.#record(this.#idOf(task))).seq;
    const { agent, owner } = this.#scope(this.#idOf(task));
    const caller = owner === ANONYMOUS.id ? {} : { caller: owner };
    return this.wait(await this.#submit(message, { agent, ...caller }), before);
  }

  /** `after`: the task has changed since this event. */
  async wait(task: TaskReference, after = 0): Promise<TestedTask> {
    const id = this.#idOf(task);
    for await (const _record of this.#changes(id, after));
    return this.get(id);
  }

  async get(task: TaskReference): Promise<TestedTask> {
    await this.#alive();
    const id = this.#idOf(task);
    const stored = await this.#node.engine.snapshot(this.#scope(id), id, { artifacts: true });
    if (stored === undefined) throw unknownTask(id);
    return testedTask(readTask(stored));
  }

  log(task: TaskReference): Promise<readonly TestedEvent[]> {
    return this.#events(this.#idOf(task), 0);
  }

  async cancel(task: TaskReference): Promise<TestedTask> {
    const id = this.#idOf(task);
    await this.#alive();
    void this.#node.engine.cancel(this.#scope(id), id).catch(() => {});
    for (let record = await this.#record(id); !isTerminal(record.head.state); record = await this.#record(id)) {
      await turn();
      // The agent's `finally` blocks may take their time; the engine waits for its grace period.
      this.#clock.moveTo(this.#clock.now() + 10);
    }
    return this.get(id);
  }

  async crash({ agents = this.#node.agents }: CrashOptions = {}): Promise<void> {
    await this.#alive();
    this.#node.kill();
    await this.#alive(listOf(agents));
  }

  async advance(milliseconds: number): Promise<void> {
    if (!(milliseconds >= 0 && Number.isFinite(milliseconds)))
      throw new TypeError(`advance() needs a number of milliseconds of at least 0, not ${String(milliseconds)}.`);
    const end = this.#clock.now() + milliseconds;
    await this.#settle();
    for (;;) {
      const wakes = await this.#wakeTimes();
      const times = [...wakes, this.#clock.nextLongTimer() ?? end];
      const next = Math.min(end, ...times.filter((time) => time > this.#clock.now()));
      this.#clock.moveTo(next);
      // Most of the other timers are the engine's own.
      await (next === end || wakes.includes(next) ? this.#settle() : turn());
      if (next === end) return;
    }
  }

  now(): number {
    return this.#clock.now();
  }

  async close(): Promise<void> {
    await this.#node.close();
    await this.#store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #newNode(agents: readonly Agent[]): EngineNode {
    const ids = agents.map(({ id }) => id);
    const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
    if (repeated !== undefined) throw new TypeError(`Two agents have the id ${repeated}.`);
    return new EngineNode({
      agents,
      store: this.#store,
      bus: this.#bus,
      clock: this.#clock,
      logger: loggerTo(this.logs),
      name: `test-${++this.#nodes}`,
      dies: () => ++this.commits === this.#crashAt,
    });
  }

  /** Starts the server again if it was killed. */
  async #alive(agents: readonly Agent[] = this.#node.agents): Promise<void> {
    if (this.#node.isDead) {
      this.#restart ??= this.#startAgain(agents).finally(() => {
        this.#restart = undefined;
      });
    }
    await this.#restart;
  }

  async #startAgain(agents: readonly Agent[]): Promise<void> {
    await this.#node.release();
    this.#node = this.#newNode(agents);
    await this.#node.start();
  }

  /** Sends until the message is stored: again after a crash, with the same id, as a client does. */
  async #submit(input: MessageInput, options: TestSendOptions): Promise<TaskId> {
    const message = messageOf(input, { contextId: options.contextId });
    for (;;) {
      await this.#alive();
      const node = this.#node;
      const ticket = await Promise.race([this.#submitTo(node, message, options), node.died]);
      if (ticket !== "died") {
        this.#tasks.set(ticket.key, this.#scopeFor(options));
        return ticket.key;
      }
    }
  }

  async #submitTo({ engine }: EngineNode, message: Message, options: TestSendOptions): Promise<Ticket> {
    const { caller, metadata = {} } = options;
    const submitted = await engine.submit({
      call: {
        principal: caller === undefined ? ANONYMOUS : { id: caller, anonymous: false },
        dialect: "test",
        policy: { namesTasks: false, tasksOnly: true },
        activeExtensions: [],
        signal: new AbortController().signal,
      },
      request: { operation: "stream", message, metadata, outputModes: [] },
      scope: this.#scopeFor(options),
      idempotencyWindow: IDEMPOTENCY_WINDOW,
    });
    if (submitted.kind === "message") throw new Error("The agent has answered without a task.");
    await submitted.ticket.stored();
    return submitted.ticket;
  }

  /** The stored task after each change, until it has ended or asks a question. */
  async *#changes(id: TaskId, after = 0): AsyncGenerator<TaskRecord> {
    let seq = -1;
    for (let unchanged = 0; ; unchanged++) {
      await this.#alive();
      const record = await this.#record(id);
      if (record.seq !== seq) {
        [seq, unchanged] = [record.seq, 0];
        yield record;
      }
      if (isTerminal(record.head.state)) return;
      if (isInterrupted(record.head.state)) {
        const isTaken = (await this.#store.inbox(id)).length === 0;
        if ((isTaken && record.seq > after) || unchanged > LEFT_IN_INBOX) return;
      } else if (this.#skipSleeps && isAsleep(record)) this.#clock.moveTo(record.head.wakeAt ?? 0);
      else if (unchanged % 10 === 9) await this.#moveClockFor(record);
      await turn(unchanged > TURNS);
    }
  }

  /** Moves the clock if the task, or one that it has called, waits for it. */
  async #moveClockFor(record: TaskRecord): Promise<void> {
    const now = this.#clock.now();
    const { tasks } = await this.#store.listAll({ root: record.id, limit: MAX_CALLED });
    const wakes = tasks.filter(isAsleep).flatMap(({ head: { wakeAt } }) => wakeAt ?? []);
    // The engine's own short pauses, as between the starts of crashed tasks.
    const isPausing = ![record, ...tasks].every((task) => this.#isHeld(task)) || (await this.#hasUnread(tasks));
    if (isPausing) this.#clock.moveTo(now + 100);
    else if (this.#skipSleeps && wakes.length > 0) this.#clock.moveTo(Math.min(...wakes));
  }

  /** Whether one of the tasks has an answer that it has not read. */
  async #hasUnread(tasks: readonly TaskRecord[]): Promise<boolean> {
    const waiting = tasks.filter(({ head: { state } }) => isInterrupted(state));
    const inboxes = await Promise.all(waiting.map(({ id }) => this.#store.inbox(id)));
    return inboxes.some(({ length }) => length > 0);
  }

  /** Whether the running engine has the task. */
  #isHeld({ node, head }: TaskRecord): boolean {
    return !head.active || node === `test-${this.#nodes}`;
  }

  /** Lets the tasks go on until each has ended or waits. */
  async #settle(): Promise<void> {
    for (let turns = 0, quiet = 0; turns < TURNS && quiet < 3; turns++) {
      await this.#alive();
      await turn();
      const records = await this.#records();
      quiet = records.every(isQuiet) ? quiet + 1 : 0;
    }
  }

  /** The tasks that were sent, and those that they have called. */
  async #records(): Promise<readonly TaskRecord[]> {
    const called = await Promise.all(
      [...this.#tasks.keys()].map(async (id) => [
        await this.#record(id),
        ...(await this.#store.listAll({ root: id, limit: MAX_CALLED })).tasks,
      ]),
    );
    return called.flat();
  }

  async #wakeTimes(): Promise<readonly number[]> {
    const records = await this.#records();
    return records.flatMap(({ head: { wakeAt } }) => wakeAt ?? []);
  }

  async #events(id: TaskId, after: number): Promise<readonly TestedEvent[]> {
    const entries = await this.#store.log(id, after, Number.POSITIVE_INFINITY);
    return entries.map(({ seq, body }) => ({ ...readEvent(body), seq }));
  }

  async #record(id: TaskId): Promise<TaskRecord> {
    const record = await this.#store.get(id, { artifacts: false, history: 0 });
    if (record === undefined) throw unknownTask(id);
    return record;
  }

  #idOf(task: TaskReference): TaskId {
    // Safe: an id that is not one of a task is reported as unknown.
    return (typeof task === "string" ? task : task.id) as TaskId;
  }

  #scope(id: TaskId): Scope {
    const scope = this.#tasks.get(id);
    if (scope === undefined) throw unknownTask(id);
    return scope;
  }

  #scopeFor({ agent = this.#node.agents[0]?.id ?? "", caller = ANONYMOUS.id }: TestSendOptions): Scope {
    if (!this.#node.agents.some(({ id }) => id === agent)) throw new Error(`The test has no agent ${agent}.`);
    return { agent, tenant: "", owner: caller };
  }
}

function listOf(agents: Agent | readonly Agent[]): readonly Agent[] {
  return "id" in agents ? [agents] : agents;
}

function loggerTo(lines: TestLogLine[]): Logger {
  const at =
    (level: TestLogLine["level"]) =>
    (message: string, details?: object): void =>
      void lines.push({ level, message, ...(details !== undefined && { details: { ...details } }) });
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

function isAsleep({ head: { state, wakeAt, runner } }: TaskRecord): boolean {
  return state !== "input-required" && wakeAt !== undefined && readRunner(runner).pausedAt !== undefined;
}

/** Whether the task does nothing before a message comes or the clock moves. */
function isQuiet(record: TaskRecord): boolean {
  const { state } = record.head;
  return isTerminal(state) || isInterrupted(state) || isAsleep(record);
}

function unknownTask(id: string): Error {
  return new Error(`The test has no task ${id}.`);
}

/** Lets the event loop turn; after many turns, a real millisecond passes, so that waiting for a network takes no processor time. */
function turn(isSlow = false): Promise<void> {
  return new Promise((resolve) => {
    if (isSlow) setTimeout(resolve, 1);
    else setImmediate(resolve);
  });
}
