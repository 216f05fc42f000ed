import assert from "node:assert/strict";
import { setTimeout as delay } from "node:timers/promises";
import type { Agent, RestartPolicy, TaskContext } from "../../src/engine/agent/agent.ts";
import type { EngineHooks, Subscription } from "../../src/engine/api.ts";
import { planStateChange } from "../../src/engine/log/state-change.ts";
import { A2AError } from "../../src/protocol/error.ts";
import { ArtifactFold } from "../../src/protocol/fold.ts";
import type { TaskId } from "../../src/protocol/ids.ts";
import { isWithoutContent } from "../../src/protocol/merged-parts.ts";
import { textOf } from "../../src/protocol/part.ts";
import { readEvent } from "../../src/protocol/serial.ts";
import { isInterrupted, isTerminal, type TaskState } from "../../src/protocol/state.ts";
import { type Store, StoreError } from "../../src/store/contract.ts";
import {
  type EngineHarness,
  type HarnessOptions,
  messageFrom,
  openHarness,
  scripted,
  turns,
} from "../../src/testing/engine-harness.ts";
import { createUnreliableStore, type StoreMethod, type UnreliableStore } from "../../src/testing/unreliable-store.ts";

/** One action of a run. */
export type Action =
  | { readonly does: "status"; readonly text: string }
  | { readonly does: "write"; readonly to: string; readonly text: string; readonly varies: boolean }
  | {
      readonly does: "step";
      readonly name: string;
      readonly to: string;
      readonly texts: readonly string[];
      readonly varies: boolean;
    }
  | { readonly does: "ask" }
  | { readonly does: "next" }
  | { readonly does: "sleep"; readonly milliseconds: number }
  | { readonly does: "pause"; readonly turns: number }
  | { readonly does: "flush" };

/** One event that happens to the engines. Numbers select a task, node or reader, modulo how many exist. */
export type Happening =
  | { readonly kind: "send"; readonly node: number; readonly script: readonly Action[] }
  | { readonly kind: "say"; readonly node: number; readonly task: number; readonly script: readonly Action[] }
  | { readonly kind: "answer"; readonly node: number }
  | { readonly kind: "cancel"; readonly node: number; readonly task: number }
  | { readonly kind: "crash"; readonly node: number; readonly commit: "none" | "lost" | "unanswered" }
  | { readonly kind: "shutdown"; readonly node: number }
  | { readonly kind: "join" }
  /** The node's lease renewals fail from now on (`mute`), or succeed again. */
  | { readonly kind: "mute"; readonly node: number }
  | { readonly kind: "pass"; readonly milliseconds: number }
  | { readonly kind: "read"; readonly node: number; readonly task: number }
  | { readonly kind: "stop reading"; readonly reader: number };

interface Known {
  readonly id: TaskId;
  /** Ids of messages that were acknowledged to their sender. */
  readonly acknowledged: Set<string>;
  /** The output of the last attempt at each turn, by the message that started the turn. */
  readonly turns: Map<string, Map<string, string[]>>;
  /** Ids of messages that a run has received. */
  readonly read: Set<string>;
  canceled: boolean;
}

/** Follows one task through all events and reconnects after the last event it received. */
interface Reader {
  readonly task: TaskId;
  readonly bodies: string[];
  node: Node | undefined;
  subscription: Subscription | undefined;
}

interface Node {
  readonly harness: EngineHarness;
  isAlive: boolean;
  isMute?: boolean;
}

/** Stores of nodes: each has connections of its own to one database. */
export interface NodeStores {
  /** The store of the next node. */
  next(): Store;
  /** Resolves when no call to these stores is under way. */
  settled(): Promise<void>;
}

export interface WorldOptions {
  readonly openStore?: NonNullable<HarnessOptions["openStore"]>;
  /** Each node's calls to the store are delayed and fail at random. */
  readonly faults?: { readonly seed: number; readonly delay: number; readonly failures: number; readonly lost: number };
  /** Default: all nodes use the store of `openStore`, which the checks use, too. */
  readonly nodeStores?: NodeStores;
  /** The store needs real time. */
  readonly isSlow?: boolean;
  readonly onRestart: RestartPolicy;
  /** Events are transformed before they are written. */
  readonly transforms: boolean;
}

/** All store methods that an engine calls, except the heartbeat, which `mute` makes fail. */
const FAILING: readonly StoreMethod[] = [
  ...(["commit", "get", "list", "log", "inbox", "steps", "findByMessage"] as const),
  ...(["positions", "changes", "claimDue", "waitingEntries", "claimsOf", "leave", "sweep"] as const),
];

const FAILURES: Readonly<Record<RestartPolicy, RegExp>> = {
  resume: /attempts-exhausted/,
  retry: /attempts-exhausted/,
  fail: /The server (stopped|was shut down) while this task was (at work|running)/,
};

const SHOUT: EngineHooks = {
  transform: (event) => {
    if (event.kind === "status") return event;
    const parts = event.artifact.parts.map(({ text }) => ({ text: `${text ?? ""}!` }));
    return { ...event, artifact: { ...event.artifact, parts } };
  },
};

/** Engines over one store, callers and readers, with the invariants that must hold after any sequence of events. */
export class EngineWorld {
  readonly #options: WorldOptions;
  readonly #nodes: Node[] = [];
  readonly #tasks: Known[] = [];
  readonly #byId = new Map<string, Known>();
  readonly #readers: Reader[] = [];
  readonly #finishedSteps = new Set<string>();
  readonly #violations: string[] = [];
  readonly #stores: UnreliableStore[] = [];

  constructor(options: WorldOptions) {
    this.#options = options;
  }

  async happen(happening: Happening): Promise<void> {
    if (this.#living.length === 0) await this.#join();
    switch (happening.kind) {
      case "send":
        this.#send(this.#node(happening.node), happening.script);
        break;
      case "say": {
        const task = pick(this.#tasks, happening.task);
        if (task !== undefined) this.#say(this.#node(happening.node), task, happening.script);
        break;
      }
      case "answer":
        await this.#answer(this.#node(happening.node));
        break;
      case "cancel": {
        const task = pick(this.#tasks, happening.task);
        if (task !== undefined) this.#cancel(this.#node(happening.node), task);
        break;
      }
      case "crash":
        await this.#crash(this.#node(happening.node), happening.commit);
        break;
      case "shutdown":
        await this.#shutdown(this.#node(happening.node));
        break;
      case "join":
        if (this.#living.length < 3) await this.#join();
        break;
      case "mute": {
        const node = this.#node(happening.node);
        setMute(node, node.isMute !== true);
        break;
      }
      case "pass":
        await this.#pass(happening.milliseconds);
        break;
      case "read": {
        const task = pick(this.#tasks, happening.task);
        if (task === undefined) break;
        const reader: Reader = { task: task.id, bodies: [], node: undefined, subscription: undefined };
        this.#readers.push(reader);
        this.#follow(reader, this.#node(happening.node));
        break;
      }
      case "stop reading":
        pick(this.#readers, happening.reader)?.subscription?.close();
        break;
    }
    await this.#rest(2);
  }

  /** Waits until all tasks have ended or wait for input, then checks all invariants. */
  async conclude(): Promise<void> {
    if (this.#living.length === 0) await this.#join();
    for (const node of this.#living) setMute(node, false);
    await this.#pass(20 * 60_000);
    const restless = await this.#restless();
    assert.equal(restless, undefined, "neither ended nor waiting for its caller");
    for (let round = 0; round < 100 && (await this.#open()).length > 0; round += 1) {
      await this.#answer(this.#node(round));
      await this.#pass(100_000);
    }
    assert.deepEqual(await this.#open(), [], "not ended");
    for (const store of this.#stores) store.setFaults({});
    for (const reader of this.#readers) this.#follow(reader, this.#node(0));
    await this.#rest(20);
    for (const task of this.#tasks) await this.#check(task);
    for (const { harness } of this.#nodes) {
      assert.deepEqual(harness.fatal, []);
      assert.deepEqual(
        harness.logs.filter(({ level, message }) => level === "error" && !this.#isExpected(message)),
        [],
      );
    }
    assert.deepEqual(this.#violations, []);
  }

  /** The steps of time are so large that a randomly failing store may fail for as long as a call is retried. */
  #isExpected(message: string): boolean {
    return this.#options.faults !== undefined && message === "The store is unavailable; requests are refused";
  }

  async close(): Promise<void> {
    await this.#nodes[0]?.harness[Symbol.asyncDispose]();
  }

  // ——— events

  #send(node: Node, script: readonly Action[]): void {
    const message = messageFrom({ parts: [{ data: { script: JSON.stringify(script) } }] });
    void node.harness
      .begin(message)
      .then(async (ticket) => {
        const task = this.#known(ticket.taskId);
        await ticket.stored();
        if (node.isAlive) task.acknowledged.add(message.messageId);
      })
      .catch(expectRefusal);
  }

  #say(node: Node, task: Known, script: readonly Action[]): void {
    const message = messageFrom({ taskId: task.id, parts: [{ data: { script: JSON.stringify(script) } }] });
    void node.harness
      .start(message)
      .then(() => {
        if (node.isAlive) task.acknowledged.add(message.messageId);
      })
      .catch(expectRefusal);
  }

  async #answer(node: Node): Promise<void> {
    for (const task of await this.#waiting()) this.#say(node, task, []);
    await this.#rest(2);
  }

  #cancel(node: Node, task: Known): void {
    void node.harness.engine.cancel(node.harness.scope(), task.id).then((result) => {
      if (result === "canceled" && node.isAlive) task.canceled = true;
    }, expectRefusal);
  }

  async #crash(node: Node, commit: "none" | "lost" | "unanswered"): Promise<void> {
    if (commit !== "none") {
      node.harness.store.hold({ applied: commit === "unanswered" });
      await this.#rest(4);
    }
    node.isAlive = false;
    await node.harness.kill();
    this.#stranded(node);
  }

  async #shutdown(node: Node): Promise<void> {
    const closing = node.harness.engine.close();
    let isClosed = false;
    void closing.then(() => {
      isClosed = true;
    });
    await this.#until(
      async () => {
        if (!isClosed) await node.harness.clock.advance(1);
        return isClosed;
      },
      async () => "the engine does not close",
    );
    node.isAlive = false;
    this.#stranded(node);
  }

  async #join(): Promise<void> {
    const number = this.#nodes.length;
    const [first] = this.#nodes;
    const agents = this.#agent(number);
    if (first !== undefined) return this.#joinBeside(first, agents, number);
    const { openStore, transforms, nodeStores } = this.#options;
    const harness = await openHarness({
      agents,
      ...(openStore && { openStore }),
      ...(transforms && { hooks: SHOUT }),
      ...(nodeStores && { wrapStore: () => nodeStores.next() }),
      ...(this.#options.faults !== undefined && { wrapStore: (store) => this.#unreliable(store) }),
    });
    this.#nodes.push({ harness, isAlive: true });
  }

  #unreliable(inner: Store): Store {
    const { seed = 1, delay = 0, failures = 0, lost = 0 } = this.#options.faults ?? {};
    const store = createUnreliableStore(inner, {
      seed: seed + this.#stores.length,
      wait: turns,
      delay: { min: 0, max: delay },
      failures: Object.fromEntries(FAILING.map((method) => [method, failures])),
      lost,
      reorders: true,
    });
    this.#stores.push(store);
    return store;
  }

  async #joinBeside(first: Node, agents: Agent, number: number): Promise<void> {
    // An engine claims tasks before it reports that it has started, so it counts as alive while it starts.
    const starting: { harness: EngineHarness; isAlive: boolean } = { harness: first.harness, isAlive: true };
    this.#nodes[number] = starting;
    starting.harness = await first.harness.join({ agents, node: `model-${number}` });
  }

  async #pass(milliseconds: number): Promise<void> {
    const step = milliseconds > 100_000 ? 10_000 : 500;
    const clock = this.#node(0).harness.clock;
    for (let left = milliseconds; left > 0; left -= step) {
      await clock.advance(Math.min(step, left));
      await this.#rest(1);
    }
    await this.#rest(5);
  }

  #follow(reader: Reader, node: Node): void {
    if (reader.subscription !== undefined) return;
    reader.node = node;
    void (async () => {
      const { harness } = node;
      const subscription = await harness.engine
        .subscribe(harness.scope(), reader.task, { after: reader.bodies.length })
        .catch((error: unknown) => {
          expectRefusal(error);
          return undefined;
        });
      if (subscription === undefined || reader.node !== node || !node.isAlive) return subscription?.close();
      reader.subscription = subscription;
      for (let batch = await subscription.next(); batch !== undefined; batch = await subscription.next()) {
        if (reader.subscription !== subscription) return;
        for (const { seq, body } of batch.entries) {
          if (seq !== reader.bodies.length + 1)
            this.#violations.push(`A reader of ${reader.task} at ${reader.bodies.length} received ${seq}.`);
          reader.bodies.push(body);
        }
      }
      if (reader.subscription === subscription) reader.subscription = undefined;
    })();
  }

  /** The readers connected to the node have lost their connection. */
  #stranded(node: Node): void {
    for (const reader of this.#readers) {
      if (reader.node !== node) continue;
      reader.subscription = undefined;
      reader.node = undefined;
      const [other] = this.#living;
      if (other !== undefined) this.#follow(reader, other);
    }
  }

  // ——— the agent

  #agent(node: number): Agent {
    return scripted((task) => this.#run(task, () => this.#nodes[node]?.isAlive !== false), {
      timeout: Number.POSITIVE_INFINITY,
      onRestart: this.#options.onRestart,
    });
  }

  async #run(task: TaskContext, isAlive: () => boolean): Promise<void> {
    /** A killed process does nothing more. */
    const stillThere = async (): Promise<void> => {
      if (!isAlive()) await new Promise<never>(() => {});
    };
    await stillThere();
    // Safe: the task exists, so its id is one.
    const known = this.#known(task.id as TaskId);
    const produced = new Map<string, string[]>();
    known.turns.set(task.message.messageId, produced);
    const note = (name: string, text: string): void => void produced.set(name, [...(produced.get(name) ?? []), text]);
    for (const action of scriptOf(task)) {
      await stillThere();
      switch (action.does) {
        case "status":
          await task.status(action.text);
          break;
        case "write": {
          const text = action.varies ? `${action.text}@${task.attempt}` : action.text;
          note(action.to, text);
          await task.artifact(action.to).write(text);
          break;
        }
        case "step": {
          let ran = "";
          const texts = await task.step(action.name, async ({ key, attempt }) => {
            ran = key;
            await stillThere();
            if (this.#finishedSteps.has(key) && this.#options.onRestart === "resume")
              this.#violations.push(`Step ${key} ran again.`);
            const written = action.texts.map((text) => (action.varies ? `${text}@${attempt}` : text));
            for (const text of written) await task.artifact(action.to).write(text);
            return written;
          });
          await stillThere();
          if (ran !== "") this.#finishedSteps.add(ran);
          for (const text of texts) note(action.to, text);
          break;
        }
        case "ask": {
          const answer = await task.ask("Well?");
          note("answers", answer);
          await task.artifact("answers").write(answer);
          break;
        }
        case "next": {
          const text = (await task.next({ wait: false })) === undefined ? "nothing" : "something";
          note("a", text);
          await task.artifact("a").write(text);
          break;
        }
        case "sleep":
          await task.sleep(action.milliseconds);
          break;
        case "pause":
          await turns(action.turns);
          break;
        case "flush":
          await task.flush();
          break;
      }
    }
    await stillThere();
    for (const { messageId } of task.history) known.read.add(messageId);
  }

  // ——— invariants

  async #check(task: Known): Promise<void> {
    const { harness } = this.#node(0);
    const entries = await harness.shared.log(task.id, 0, Number.POSITIVE_INFINITY);
    const record = await harness.shared.get(task.id, { artifacts: false });
    if (record === undefined) {
      assert.equal(task.acknowledged.size, 0);
      return;
    }
    assert.deepEqual(
      entries.map(({ seq }) => seq),
      entries.map((_, index) => index + 1),
    );
    const events = entries.map(({ body }) => readEvent(body));
    const fold = new ArtifactFold();
    const open = new Map<string, boolean>();
    let state: TaskState = "submitted";
    for (const [index, event] of events.entries()) {
      fold.add(event);
      if (event.kind === "artifact") {
        const { artifactId, parts } = event.artifact;
        const isClosing = event.append && event.lastChunk && isWithoutContent(parts);
        if (isClosing) assert.equal(open.get(artifactId), true, "an artifact is closed once");
        open.set(artifactId, !event.lastChunk);
      }
      if (event.kind !== "status") continue;
      assert.deepEqual(planStateChange(state, event.status.state), { ok: true, via: [] });
      state = event.status.state;
      if (isTerminal(state)) assert.equal(index, events.length - 1);
    }
    assert.ok(![...open.values()].includes(true), "the last chunk of each artifact is marked as the last");
    const snapshot = await harness.get(task.id);
    assert.deepEqual(snapshot.artifacts, fold.artifacts());
    assert.equal(snapshot.status.state, state);
    assert.equal(isTerminal(state), true);
    if (task.canceled) assert.equal(state, "canceled");
    for (const reader of this.#readers) {
      if (reader.task === task.id)
        assert.deepEqual(
          reader.bodies,
          entries.map(({ body }) => body),
        );
    }
    const said: readonly string[] = (snapshot.history ?? []).map(({ messageId }) => messageId);
    assert.equal(new Set(said).size, said.length);
    for (const id of task.acknowledged) assert.ok(said.includes(id));
    if (state === "completed") {
      for (const id of task.acknowledged) assert.ok(task.read.has(id), "a message was not read before the end");
      this.#checkContent(task, snapshot.artifacts ?? []);
    } else if (state === "failed")
      assert.match(JSON.stringify(snapshot.status.message), FAILURES[this.#options.onRestart]);
  }

  /** A completed task contains the output of the last attempt at each turn, and nothing else. */
  #checkContent(task: Known, artifacts: NonNullable<Awaited<ReturnType<EngineHarness["get"]>>["artifacts"]>): void {
    const expected = new Map<string, string[]>();
    for (const turn of task.turns.values()) {
      for (const [name, texts] of turn) expected.set(name, [...(expected.get(name) ?? []), ...texts]);
    }
    const held = new Map(artifacts.map(({ artifactId, parts }) => [artifactId as string, textOf(parts)]));
    const mark = this.#options.transforms ? "!" : "";
    // Output that an earlier attempt wrote and the last attempt did not remains as an empty artifact.
    for (const [name, text] of held) if (!expected.has(name) && text === mark) held.delete(name);
    const texts = Array.from(expected, ([name, written]) => [name, written.map((text) => text + mark).join("")]);
    assert.deepEqual(Object.fromEntries(held), Object.fromEntries(texts));
  }

  #known(id: TaskId): Known {
    let task = this.#byId.get(id);
    if (task === undefined) {
      task = { id, acknowledged: new Set(), turns: new Map(), read: new Set(), canceled: false };
      this.#tasks.push(task);
      this.#byId.set(id, task);
    }
    return task;
  }

  get #living(): readonly Node[] {
    return this.#nodes.filter(({ isAlive }) => isAlive);
  }

  #node(number: number): Node {
    const node = pick(this.#living, number);
    if (node === undefined) throw new Error("No node is running.");
    return node;
  }

  async #stateOf(task: Known): Promise<TaskState | undefined> {
    return (await this.#node(0).harness.shared.get(task.id, { artifacts: false, history: 0 }))?.head.state;
  }

  async #waiting(): Promise<Known[]> {
    const states = await Promise.all(this.#tasks.map((task) => this.#stateOf(task)));
    return this.#tasks.filter((_, index) => {
      const state = states[index];
      return state !== undefined && isInterrupted(state);
    });
  }

  async #open(): Promise<TaskId[]> {
    const states = await Promise.all(this.#tasks.map((task) => this.#stateOf(task)));
    return this.#tasks.flatMap(({ id }, index) => {
      const state = states[index];
      return state === undefined || isTerminal(state) ? [] : [id];
    });
  }

  /** Returns a task that neither has ended nor waits for input. */
  async #restless(): Promise<TaskId | undefined> {
    for (const task of this.#tasks) {
      const state = await this.#stateOf(task);
      if (state !== undefined && !isTerminal(state) && !isInterrupted(state)) return task.id;
    }
    return undefined;
  }

  async #rest(times: number): Promise<void> {
    const { nodeStores } = this.#options;
    if (nodeStores !== undefined) await nodeStores.settled();
    else if (this.#options.isSlow === true) await delay(times);
    // Enough turns for several delayed store calls in sequence.
    else await turns(times * (1 + 4 * (this.#options.faults?.delay ?? 0)));
  }

  async #until(condition: () => Promise<boolean>, otherwise: () => Promise<string>): Promise<void> {
    for (let tries = 0; tries < 300; tries += 1) {
      if (await condition()) return;
      await this.#rest(2);
      if (tries % 10 === 9 && this.#living.length > 0) await this.#pass(1000);
    }
    throw new Error(`Timed out waiting: ${await otherwise()}`);
  }
}

function setMute(node: Node, isMute: boolean): void {
  const { store, shared } = node.harness;
  node.isMute = isMute;
  store.heartbeat = (id, leaseMs) =>
    node.isMute === true ? Promise.reject(new StoreError("busy", "not now")) : shared.heartbeat(id, leaseMs);
}

function pick<T>(list: readonly T[], number: number): T | undefined {
  return list[number % list.length];
}

function scriptOf(task: TaskContext): readonly Action[] {
  const { data } = task;
  const script = typeof data === "object" && data !== null && "script" in data ? data["script"] : undefined;
  return typeof script === "string" ? JSON.parse(script) : [];
}

/** Errors that a caller may receive: the task is finished, or the server is shutting down. */
function expectRefusal(error: unknown): void {
  if (error instanceof A2AError && ["unsupported-operation", "unavailable", "task-not-found"].includes(error.code))
    return;
  throw error;
}
