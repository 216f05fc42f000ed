import assert from "node:assert/strict";
import type { TaskContext } from "../engine/agent/agent.ts";
import { planStateChange } from "../engine/log/state-change.ts";
import type { TaskId } from "../protocol/ids.ts";
import { isWithoutContent } from "../protocol/merged-parts.ts";
import { textOf } from "../protocol/part.ts";
import { readEvent } from "../protocol/serial.ts";
import { isInterrupted, isTerminal, type TaskState } from "../protocol/state.ts";
import type { Task } from "../protocol/task.ts";
import { type EngineHarness, eventText, type HarnessOptions, openHarness, scripted, turns } from "./engine-harness.ts";

/** The actions of a trial; a test runs them in random order. */
export const TRIAL_ACTIONS = [
  "send",
  "say",
  "cancel",
  "pass",
  "turn",
  "hold",
  "hold-applied",
  "release",
  "crash",
  "restart",
  "beside",
  "follow",
  "read",
] as const;

/** `pick` selects the task; `amount` is a duration, a number of turns or the mode of a message. */
export interface TrialAction {
  readonly kind: (typeof TRIAL_ACTIONS)[number];
  readonly pick: number;
  readonly amount: number;
}

/**
 * One turn: runs a step and, depending on the bits of the number in the text, asks, sleeps and polls for messages. It writes each text that it reads
 * to the artifact `log`, so the checks can compare the messages read with the messages sent.
 */
async function work(task: TaskContext, stepValue: () => number): Promise<void> {
  const says = task.artifact("log");
  const mode = Number(task.text.split("/")[1]);
  await says.write(`turn:${task.text}\n`);
  if (mode & 1) await task.flush();
  await says.write(`step:${await task.step("s", stepValue)}\n`);
  if (mode & 2) await says.write(`read:${await task.ask("Well?")}\n`);
  if (mode & 4) await task.sleep(1500);
  if (mode & 8) {
    const message = await task.next({ wait: false });
    if (message !== undefined) await says.write(`read:${message.parts[0]?.text}\n`);
  }
  await says.write("done\n");
}

/** A reader that resumes after every crash, and the events it has received. */
interface Reader {
  readonly task: TaskId;
  readonly seqs: number[];
  readonly story: string[];
}

class Trial {
  harness: EngineHarness;
  readonly tasks: TaskId[] = [];
  /** Texts the engine has acknowledged, by task. */
  readonly acknowledged = new Map<TaskId, string[]>();
  readonly canceled = new Set<TaskId>();
  readonly readers: Reader[] = [];
  #said = 0;
  #other: EngineHarness | undefined;

  constructor(harness: EngineHarness) {
    this.harness = harness;
  }

  async do({ kind, pick, amount }: TrialAction): Promise<void> {
    const { harness } = this;
    const task = this.tasks[pick % Math.max(1, this.tasks.length)];
    if (kind === "send") await this.#say(undefined, amount);
    else if (kind === "pass") await harness.advance(amount * 200, 200);
    else if (kind === "turn") await turns(amount % 4);
    else if (kind === "hold") harness.store.hold();
    else if (kind === "hold-applied") harness.store.hold({ applied: true });
    else if (kind === "release") harness.store.release();
    else if (kind === "crash") this.harness = await harness.crash();
    else if (kind === "restart") await this.#restart();
    else if (kind === "beside") await this.#goBeside();
    else if (task !== undefined) await this.#doTo(task, { kind, pick, amount });
  }

  async #doTo(task: TaskId, { kind, amount }: TrialAction): Promise<void> {
    const { harness } = this;
    if (kind === "say") await this.#say(task, amount);
    else if (kind === "cancel") {
      this.canceled.add(task);
      harness.engine.cancel(harness.scope(), task).catch(() => {});
    } else if (kind === "follow" && this.readers.length < 5) this.readers.push({ task, seqs: [], story: [] });
    else if (kind === "read") for (const reader of this.readers) if (reader.task === task) await this.#read(reader);
  }

  /** Switches to the other node; at most two nodes exist. */
  async #goBeside(): Promise<void> {
    const other = this.#other ?? (await this.harness.join());
    this.#other = this.harness;
    this.harness = other;
  }

  async #restart(): Promise<void> {
    await this.harness.stop();
    this.harness = await this.harness.join();
  }

  async #say(task: TaskId | undefined, mode: number): Promise<void> {
    const text = `m${++this.#said}/${mode}`;
    const note = (id: TaskId): void => {
      this.acknowledged.set(id, [...(this.acknowledged.get(id) ?? []), text]);
      if (!this.tasks.includes(id)) this.tasks.push(id);
    };
    // Never answered if the process dies first; refused if the task has ended.
    this.harness.start({ parts: [{ text }], ...(task !== undefined && { taskId: task }) }).then(
      ({ taskId }) => note(taskId),
      () => {},
    );
    await turns(1);
  }

  /** Reads the events that are available now, from the reader's position. */
  async #read(reader: Reader): Promise<void> {
    const { harness } = this;
    const after = reader.seqs.at(-1) ?? 0;
    const subscribing = harness.engine.subscribe(harness.scope(), reader.task, { after });
    const subscription = await harness.pumped(subscribing.catch(() => undefined));
    if (subscription === undefined) return;
    for (;;) {
      const batch = await Promise.race([subscription.next(), turns(3)]);
      if (batch === undefined || !("entries" in Object(batch))) break;
      for (const { seq, body } of Object(batch).entries) {
        reader.seqs.push(seq);
        reader.story.push(eventText(readEvent(body)));
      }
    }
    subscription.close();
  }

  /** Runs all tasks to their end: answers questions, moves the clock, and reads for every reader. */
  async finish(beforeReading?: () => void): Promise<void> {
    this.harness.store.release();
    this.#other?.store.release();
    const giveUp = performance.now() + 8000;
    while (performance.now() < giveUp) {
      await this.harness.advance(2000, 200);
      const query = { scope: this.harness.scope(), limit: 1000, artifacts: false };
      // An unreliable store may refuse the call.
      const page = await this.harness.pumped(this.harness.engine.list(query).catch(() => undefined));
      if (page === undefined) continue;
      const open = page.tasks.filter(({ state }) => !isTerminal(state));
      for (const { id } of page.tasks) if (!this.tasks.includes(id)) this.tasks.push(id);
      // A message may still be in progress without a task in the list.
      if (open.length === 0 && this.#nodes().every(({ engine }) => engine.counts().live === 0)) break;
      for (const { id, state } of open) if (isInterrupted(state)) await this.#say(id, 0);
    }
    beforeReading?.();
    for (const reader of this.readers) {
      const { length } = await this.harness.log(reader.task);
      while (reader.seqs.length < length && performance.now() < giveUp) await this.#read(reader);
    }
  }

  async check(): Promise<void> {
    const { harness } = this;
    for (const id of this.tasks) {
      const story = await harness.story(id);
      await this.#checkLog(id);
      this.#checkContent(await harness.get(id), story.join(" | "));
    }
    for (const { task, seqs, story } of this.readers) {
      const whole = await harness.story(task);
      assert.deepEqual(seqs, wholeNumbers(whole.length), "a reader must get every event exactly once, in order");
      assert.deepEqual(story, whole, "a reader must get the events of the log");
    }
    await turns(3);
    for (const node of this.#nodes()) {
      assert.deepEqual(node.fatal, []);
      // The trial's clock may jump past the time for which a commit is retried.
      const isExpected = (message: string): boolean => message.startsWith("The store is unavailable");
      assert.deepEqual(
        node.logs.filter(({ level, message }) => level === "error" && !isExpected(message)),
        [],
      );
      const { storeRefusals: _refusals, ...counts } = node.engine.counts();
      assert.deepEqual(counts, { running: 0, queued: 0, orphans: 0, live: 0, subscribers: 0 });
    }
  }

  #nodes(): readonly EngineHarness[] {
    return this.#other === undefined ? [this.harness] : [this.harness, this.#other];
  }

  async #checkLog(id: TaskId): Promise<void> {
    const log = await this.harness.log(id);
    assert.deepEqual(
      log.map(({ seq }) => seq),
      wholeNumbers(log.length),
      "the seqs of the log must be contiguous",
    );
    let state: TaskState = "submitted";
    const open = new Map<string, boolean>();
    for (const { event } of log) {
      if (event.kind === "artifact") {
        if (!isWithoutContent(event.artifact.parts))
          assert.equal(state, "working", "content may only be written in the state working");
        open.set(event.artifact.artifactId, !event.lastChunk);
      } else {
        assert.deepEqual(planStateChange(state, event.status.state), { ok: true, via: [] });
        state = event.status.state;
      }
    }
    assert.ok(![...open.values()].includes(true), "the last chunk of each artifact must have lastChunk");
    assert.ok(isTerminal(state), `every task must end, but one is still ${state}`);
    assert.equal((await this.harness.get(id)).status.state, state);
  }

  #checkContent(task: Task, story: string): void {
    const userTexts = (task.history ?? []).flatMap(({ role, parts }) =>
      role === "user" ? [parts[0]?.text ?? ""] : [],
    );
    assert.equal(new Set(userTexts).size, userTexts.length, `the history must contain each message once: ${story}`);
    for (const text of this.acknowledged.get(task.id) ?? [])
      assert.ok(userTexts.includes(text), `the acknowledged message ${text} is missing from the history: ${story}`);
    if (task.status.state !== "completed") return;
    assert.equal(task.artifacts?.[0]?.parts.length, 1, `the artifact must have one text part: ${story}`);
    const written = textOf(task.artifacts?.[0]?.parts ?? [])
      .trimEnd()
      .split("\n");
    const shape = written.map((line) => line.split(":")[0]).join(" ");
    assert.match(shape, /^(turn step( read){0,2} done ?)+$/, `each turn must be written completely and once: ${story}`);
    const read = written.flatMap((line) => (/^(turn|read):/.test(line) ? [line.replace(/^\w+:/, "")] : []));
    // A run that was asked to stop and completes all the same reads no further messages.
    if (this.canceled.has(task.id)) return;
    assert.deepEqual(new Set(read), new Set(userTexts), `the agent must read every message: ${story}`);
    assert.equal(read.length, userTexts.length, `the agent must read every message once: ${story}`);
  }
}

function wholeNumbers(upTo: number): number[] {
  return Array.from({ length: upTo }, (_, index) => index + 1);
}

export interface TrialStore extends Pick<HarnessOptions, "openStore" | "wrapStore"> {
  /** Called after all tasks have ended. The store must not fail from then on. */
  readonly beforeCheck?: () => void;
}

/** Runs the actions on a new engine, runs all tasks to their end, and throws an `AssertionError` if an invariant is violated. */
export async function runTrial(
  actions: readonly TrialAction[],
  { beforeCheck, ...storeOptions }: TrialStore = {},
): Promise<void> {
  let steps = 0;
  const harness = await openHarness({
    agents: scripted((task) => work(task, () => ++steps), { concurrency: 3 }),
    parkAfter: 1000,
    cancelGrace: 500,
    ...storeOptions,
  });
  await using _closing = harness;
  const trial = new Trial(harness);
  for (const step of actions) await trial.do(step);
  await trial.finish(beforeCheck);
  await trial.check();
}
