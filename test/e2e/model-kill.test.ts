import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { IS_FULL, sampled } from "../fixtures/budget.ts";
import { ModelWorld, storedModelCalls } from "./model-world.ts";
import { type Call, collect, eventsOf, type Frame, idsUpTo, must, open, sendParams, type Task } from "./rpc.ts";
import { type Serving, until, Workbench } from "./workbench.ts";

/** Kills at random times. */
const KILLS = sampled(1, 500);
/** Tasks at the same time. */
const TASKS = 4;

let bench: Workbench;
let world: ModelWorld;
beforeEach(async () => {
  bench = new Workbench();
  world = await ModelWorld.open();
});
afterEach(async () => {
  await bench.close();
  await world[Symbol.asyncDispose]();
});

const serve = (env: Readonly<Record<string, string>> = {}): Promise<Serving> =>
  bench.serveScript("model-clerk.ts", { env: { ...world.environment, ...env } });

/** A caller that streams one task, and continues its stream after each restart. */
interface Reader {
  readonly name: string;
  call: Call;
  isSent: boolean;
  readonly frames: Frame[];
}

const newReader = (name: string): Reader => ({
  name,
  call: { method: "SendStreamingMessage", params: sendParams(name) },
  isSent: false,
  frames: [],
});

const stateOf = (reader: Reader): string | undefined =>
  reader.frames.findLast(({ result }) => result.statusUpdate !== undefined)?.result.statusUpdate?.status.state;
const isOver = (reader: Reader): boolean => /COMPLETED|FAILED|REJECTED|CANCELED/.test(stateOf(reader) ?? "");
const idOf = (reader: Reader): string | undefined => reader.frames[0]?.result.task?.id;

/** Reads until the task ends or the server dies. Without an answer, the same message is sent again: it makes one task. */
async function read(server: Serving, reader: Reader): Promise<void> {
  try {
    if (reader.isSent && idOf(reader) === undefined) await findTask(server, reader);
    reader.isSent = true;
    const stream = await open(server.url, reader.call);
    for await (const frame of stream.frames) reader.frames.push(frame);
  } catch {
    // The server died before it answered.
  }
  const id = idOf(reader);
  const after = eventsOf(reader.frames).at(-1)?.id ?? 0;
  if (id !== undefined) reader.call = { method: "SubscribeToTask", params: { id }, after };
}

/** Sends the message again and takes only the id of its task, so that all events are read from the log. */
async function findTask(server: Serving, reader: Reader): Promise<void> {
  const [first] = await collect(server.url, reader.call, () => false);
  if (first === undefined) return;
  reader.frames.push(first);
  reader.call = { method: "SubscribeToTask", params: { id: idOf(reader) }, after: 0 };
}

/** Checks a task that has ended, against the model, the ledger and the log. */
async function check(server: Serving, reader: Reader): Promise<void> {
  const { name } = reader;
  const task = await must<Task>(server.url, "GetTask", { id: idOf(reader) });
  const expected = world.expectedText(name);
  expect(task.status.state, `task ${name}: ${JSON.stringify(task.status)}`).toBe("TASK_STATE_COMPLETED");
  expect(task.artifacts?.[0]?.parts, `task ${name}`).toEqual([{ text: expected }]);
  const events = eventsOf(reader.frames);
  expect(
    events.map(({ id }) => id),
    `task ${name}`,
  ).toEqual(idsUpTo(events.length));
  let streamed = "";
  for (const { result } of events) {
    const update = result.artifactUpdate;
    if (update === undefined) continue;
    const text = update.artifact.parts.map((part) => part.text ?? "").join("");
    streamed = update.append === true ? streamed + text : text;
  }
  expect(streamed, `task ${name}`).toBe(expected);
  for (const n of [1, 2, 3])
    expect(world.payments.get(`${name}/${n}`) ?? 0, `payment ${name}/${n}`).toBeLessThanOrEqual(1);
}

/** Model calls that were made after their answer was stored. */
class Repetitions {
  readonly #stored = new Map<string, readonly number[]>();
  #checked = 0;
  readonly found: string[] = [];

  /** Call it while no server runs. */
  update(readers: readonly Reader[]): void {
    this.check();
    const stored = storedModelCalls(bench.path("tasks.db"));
    for (const reader of readers) {
      const id = idOf(reader);
      const own = [...stored].find(([task]) => id !== undefined && task.includes(id))?.[1];
      if (own !== undefined) this.#stored.set(reader.name, own);
    }
  }

  check(): void {
    for (; this.#checked < world.seen.length; this.#checked++) {
      const call = world.seen[this.#checked];
      if (call !== undefined && this.#stored.get(call.task)?.includes(call.number) === true)
        this.found.push(`call ${call.number} of task ${call.task}`);
    }
  }

  /** Whether any stored call was seen at all: otherwise the check proves nothing. */
  get stored(): number {
    return [...this.#stored.values()].flat().length;
  }
}

it(
  `${KILLS} kill -9 at random times repeat no stored model call and no payment, and lose no text`,
  async () => {
    const readers: Reader[] = [];
    const repetitions = new Repetitions();
    let kills = 0;
    let done = 0;
    let server = await serve();
    while (done < readers.length || kills < KILLS) {
      while (readers.filter((reader) => !isOver(reader)).length < TASKS && kills < KILLS)
        readers.push(newReader(String(readers.length + 1)));
      const active = readers.slice(done).filter((reader) => !isOver(reader));
      const reading = Promise.all(active.map((reader) => read(server, reader)));
      if (kills < KILLS) {
        // After a number of model calls and a random time: a busy machine must not be killed before it has begun. After six calls of four
        // tasks at least one is stored.
        const calls = world.seen.length + (kills === 0 ? 6 : Math.floor(Math.random() * 8));
        const over = reading.then(() => true);
        await until(async () => world.seen.length >= calls || (await Promise.race([over, sleep(5)])) === true);
        await sleep(Math.random() * 60);
        await server.kill("SIGKILL");
        kills++;
        await reading;
        repetitions.update(readers.slice(done));
        server = await serve();
      } else await reading;
      for (let reader = readers[done]; reader !== undefined && isOver(reader); reader = readers[done]) {
        await check(server, reader);
        done++;
      }
    }
    repetitions.check();
    expect(repetitions.found).toEqual([]);
    expect(repetitions.stored).toBeGreaterThan(0);
    const counts = [...world.payments.values()];
    expect(counts.every((count) => count === 1)).toBe(true);
    console.info(
      `${kills} kills, ${readers.length} conversations of 5 model calls: ${world.seen.length} model calls (${world.seen.length - readers.length * 5} were cut off and made again), ${counts.length} payments, ${world.cutOffTools} tools were cut off and not run again`,
    );
  },
  60_000 + KILLS * 15_000,
);

it(
  "a kill -9 at a commit of the conversation repeats no stored model call and no payment, and loses no text",
  async () => {
    const counting = await serve();
    let commits = 0;
    const undisturbed = newReader("1");
    await read(counting, undisturbed);
    await check(counting, undisturbed);
    await until(async () => {
      const { commits: now } = (await counting.ask({ kind: "commits" })) as { commits: number };
      const isStill = now === commits;
      commits = now;
      return isStill;
    });
    await counting.kill("SIGKILL");
    expect(commits).toBeGreaterThan(10);
    const faults = Array.from({ length: commits }, (_, index) => index + 1).flatMap((at) =>
      (["before", "after", "answered"] as const).map((how) => ({ at, how })),
    );
    // `test/integration/model-crash.test.ts` tries more of them without processes.
    const middle = Math.floor(faults.length / 2);
    let kills = 0;
    for (const [index, { at, how }] of (IS_FULL ? faults : faults.slice(middle, middle + 1)).entries()) {
      const reader = newReader(String(index + 2));
      const repetitions = new Repetitions();
      const dying = await serve({ KILL_AT: String(at), KILL_HOW: how });
      const { signal } = await Promise.race([dying.ended, read(dying, reader).then(() => dying.kill("SIGTERM"))]);
      if (signal === "SIGKILL") kills++;
      repetitions.update([reader]);
      const server = await serve();
      if (!isOver(reader)) await read(server, reader);
      await check(server, reader);
      repetitions.check();
      expect(repetitions.found, `${how} commit ${at}`).toEqual([]);
      await server.kill("SIGKILL");
    }
    expect(kills).toBeGreaterThan(0);
    console.info(`${commits} commits, ${kills} kills at commits`);
  },
  60_000 + 300_000 * (IS_FULL ? 6 : 1),
);
