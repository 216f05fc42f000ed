import fc from "fast-check";
import { expect, test } from "vitest";
import type { TaskId } from "../protocol/ids.ts";
import { readEvent } from "../protocol/serial.ts";
import { isInterrupted, isTerminal, type TaskState } from "../protocol/state.ts";
import { type EngineHarness, openHarness, scripted, tell, turns } from "../testing/engine-harness.ts";
import type { TaskContext } from "./agent.ts";
import { planMove } from "./transition.ts";

/** What is done to the engine, one after the other; `pick` and `amount` say to what and how much. */
const KINDS = [
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
  "follow",
  "read",
] as const;
const action = fc.record({ kind: fc.constantFrom(...KINDS), pick: fc.nat(20), amount: fc.nat(15) });
type Action = { readonly kind: (typeof KINDS)[number]; readonly pick: number; readonly amount: number };

/**
 * One turn: says what it was started with, does a step, asks, sleeps and looks for messages as the text's number tells it, and says
 * what came of each. All it has read can be told from what it has written.
 */
async function work(task: TaskContext, stepValue: () => number): Promise<void> {
  const says = task.artifact("log");
  const mode = Number(task.text.split("/")[1]);
  await says.write(`turn:${task.text}`);
  if (mode & 1) await task.flush();
  await says.write(`step:${await task.step("s", stepValue)}`);
  if (mode & 2) await says.write(`read:${await task.ask("Well?")}`);
  if (mode & 4) await task.sleep(1500);
  if (mode & 8) {
    const message = await task.next({ wait: false });
    if (message !== undefined) await says.write(`read:${message.parts[0]?.text}`);
  }
  await says.write("done");
}

/** A reader that goes on where it was after every crash, and writes down what it got. */
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
  readonly readers: Reader[] = [];
  #said = 0;

  constructor(harness: EngineHarness) {
    this.harness = harness;
  }

  async do({ kind, pick, amount }: Action): Promise<void> {
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
    else if (task !== undefined) await this.#doTo(task, { kind, pick, amount });
  }

  async #doTo(task: TaskId, { kind, amount }: Action): Promise<void> {
    const { harness } = this;
    if (kind === "say") await this.#say(task, amount);
    else if (kind === "cancel") harness.engine.cancel(harness.scope(), task).catch(() => {});
    else if (kind === "follow" && this.readers.length < 5) this.readers.push({ task, seqs: [], story: [] });
    else if (kind === "read") for (const reader of this.readers) if (reader.task === task) await this.#read(reader);
  }

  async #restart(): Promise<void> {
    this.harness.store.release();
    const drained = this.harness.engine.close();
    await this.harness.advance(100);
    await drained;
    await this.harness.kill();
    this.harness = await this.harness.join();
  }

  async #say(task: TaskId | undefined, mode: number): Promise<void> {
    const text = `m${++this.#said}/${mode}`;
    const note = (id: TaskId): void => {
      this.acknowledged.set(id, [...(this.acknowledged.get(id) ?? []), text]);
      if (!this.tasks.includes(id)) this.tasks.push(id);
    };
    // It may never be answered, if the process dies first; or be refused, if the task is finished.
    this.harness.start({ parts: [{ text }], ...(task !== undefined && { taskId: task }) }).then(
      ({ taskId }) => note(taskId),
      () => {},
    );
    await turns(1);
  }

  /** Reads what there is at the moment, from where the reader is. */
  async #read(reader: Reader): Promise<void> {
    const { harness } = this;
    const after = reader.seqs.at(-1) ?? 0;
    const subscription = await harness.engine.subscribe(harness.scope(), reader.task, { after }).catch(() => undefined);
    if (subscription === undefined) return;
    for (;;) {
      const batch = await Promise.race([subscription.next(), turns(3)]);
      if (batch === undefined || !("entries" in Object(batch))) break;
      for (const { seq, body } of Object(batch).entries) {
        reader.seqs.push(seq);
        reader.story.push(tell(readEvent(body)));
      }
    }
    subscription.close();
  }

  /** Lets everything come to its end: questions are answered, time passes, readers read. */
  async finish(): Promise<void> {
    this.harness.store.release();
    for (let round = 0; round < 60; round += 1) {
      await this.harness.advance(2000, 200);
      const page = await this.harness.engine.list({ scope: this.harness.scope(), limit: 1000, artifacts: false });
      const open = page.tasks.filter(({ state }) => !isTerminal(state));
      for (const { id } of page.tasks) if (!this.tasks.includes(id)) this.tasks.push(id);
      if (open.length === 0) break;
      for (const { id, state } of open) if (isInterrupted(state)) await this.#say(id, 0);
    }
    for (const reader of this.readers) await this.#read(reader);
  }

  async check(): Promise<void> {
    const { harness } = this;
    for (const id of this.tasks) {
      const log = await harness.log(id);
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
      let state: TaskState = "submitted";
      for (const { event } of log) {
        if (event.kind === "artifact") expect(state).toBe("working");
        else {
          expect(planMove(state, event.status.state)).toEqual({ ok: true, via: [] });
          state = event.status.state;
        }
      }
      expect(isTerminal(state)).toBe(true);
      const task = await harness.get(id);
      expect(task.status.state).toBe(state);
      this.#checkContent(task, await harness.story(id));
    }
    for (const { task, seqs, story } of this.readers) {
      const whole = await harness.story(task);
      expect(seqs).toEqual(whole.map((_, index) => index + 1));
      expect(story).toEqual(whole);
    }
    expect(harness.fatal).toEqual([]);
    expect(harness.logs.filter(({ level }) => level === "error")).toEqual([]);
    await turns(3);
    expect(harness.engine.counts()).toEqual({ running: 0, queued: 0, orphans: 0, live: 0, subscribers: 0 });
  }

  #checkContent(task: Awaited<ReturnType<EngineHarness["get"]>>, story: readonly string[]): void {
    const heard = (task.history ?? []).flatMap(({ role, parts }) => (role === "user" ? [parts[0]?.text] : []));
    // Everything acknowledged is there, once, and nothing is there twice.
    expect(new Set(heard).size).toBe(heard.length);
    for (const text of this.acknowledged.get(task.id) ?? []) expect(heard, story.join(" | ")).toContain(text);
    if (task.status.state !== "completed") return;
    const written = task.artifacts?.[0]?.parts.map(({ text }) => text ?? "") ?? [];
    // Whole turns, each written once, each message read once.
    const shape = written.map((line) => line.split(":")[0]).join(" ");
    expect(shape, story.join(" | ")).toMatch(/^(turn step( read){0,2} done ?)+$/);
    const read = written.flatMap((line) => (/^(turn|read):/.test(line) ? [line.replace(/^\w+:/, "")] : []));
    expect(read.toSorted(), story.join(" | ")).toEqual(heard.toSorted());
  }
}

async function runTrial(actions: readonly Action[]): Promise<void> {
  let steps = 0;
  const harness = await openHarness({
    agents: scripted((task) => work(task, () => ++steps), { concurrency: 3 }),
    parkAfter: 1000,
    cancelGrace: 500,
  });
  await using _closing = harness;
  const trial = new Trial(harness);
  for (const step of actions) await trial.do(step);
  await trial.finish();
  await trial.check();
}

test("whatever messages, cancels, crashes, restarts and readers come in whatever order, the rules hold", async () => {
  await fc.assert(fc.asyncProperty(fc.array(action, { minLength: 5, maxLength: 80 }), runTrial), {
    numRuns: 1000,
    timeout: 1500,
    interruptAfterTimeLimit: 60000,
  });
});
