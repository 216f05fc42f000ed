import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { createClock } from "../../internal/clock.ts";
import type { TaskId } from "../../protocol/ids.ts";
import type { Outcome, Store, TaskWrite } from "../../store/contract.ts";
import { OK } from "../../store/outcomes.ts";
import { CommitPace } from "./commit-pace.ts";
import { type CommitSource, Committer } from "./committer.ts";

/** A clock that stands still until it is moved. */
function stoppedClock(): { now: number; readonly pace: CommitPace } {
  const clock: { now: number; pace: CommitPace } = { now: 0, pace: new CommitPace((): number => clock.now) };
  return clock;
}

/** Makes the pace see this many writes of chunks in a tenth of a second. */
function load(clock: { now: number; readonly pace: CommitPace }, writes: number): void {
  const { pace } = clock;
  pace.started();
  for (let count = 0; count < writes; count++) pace.chunksWritten();
  clock.now += 100;
  pace.started();
  pace.finished(true);
}

describe("chunks", () => {
  test("wait for others up to 10 ms after the last commit began, if a hundred streams write twenty per second", () => {
    const clock = stoppedClock();
    load(clock, 200);
    expect(clock.pace.wait).toBe(10);
    clock.now += 4;
    expect(clock.pace.wait).toBe(6);
    clock.now += 5.5;
    expect(clock.pace.wait).toBe(0);
    clock.now += 1000;
    expect(clock.pace.wait).toBe(0);
  });

  test("do not wait with fewer streams", () => {
    const clock = stoppedClock();
    load(clock, 199);
    expect(clock.pace.wait).toBe(0);
  });

  test("do not wait before the load was measured, and not any more when it is gone", () => {
    const clock = stoppedClock();
    clock.pace.finished(true);
    for (let count = 0; count < 1000; count++) clock.pace.chunksWritten();
    clock.pace.started();
    expect(clock.pace.wait).toBe(0);
    load(clock, 500);
    expect(clock.pace.wait).toBe(10);
    clock.now += 100;
    clock.pace.started();
    expect(clock.pace.wait).toBe(0);
  });

  test("do not wait for a store that answers at once", () => {
    const clock = stoppedClock();
    load(clock, 500);
    clock.pace.finished(false);
    expect(clock.pace.wait).toBe(0);
  });
});

/** A task with something to commit. */
class Source implements CommitSource {
  marked = false;
  readonly isInFlight = false;
  readonly #committed: () => void;
  /** Resolves after its next commit. */
  readonly done: Promise<void>;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.done = promise;
    this.#committed = resolve;
  }

  collect(): TaskWrite {
    return {
      kind: "write",
      task: "t" as TaskId,
      epoch: 1,
      entries: [],
      history: [],
      taken: [],
      steps: [],
      forgetSteps: false,
      release: false,
    };
  }

  committed(): void {
    this.#committed();
  }

  failed(): void {}
}

interface Opened {
  readonly clock: { now: number };
  readonly committer: Committer;
  /** The number of operations of each commit. */
  readonly commits: number[];
}

/** A committer under load. Its store answers after a turn of the event loop. */
async function openLoaded(): Promise<Opened> {
  const clock = stoppedClock();
  const commits: number[] = [];
  const commit = async (operations: readonly unknown[]): Promise<readonly Outcome[]> => {
    commits.push(operations.length);
    await turn();
    await turn();
    return operations.map(() => OK);
  };
  // Only `commit` is called.
  const store = { commit } as unknown as Store;
  const onFatal = (error: unknown): void => expect.fail(String(error));
  const committer = new Committer({
    store,
    clock: createClock(),
    retryFor: 0,
    writer: "w",
    onFatal,
    pace: clock.pace,
  });
  const first = new Source();
  committer.mark(first, true);
  await first.done;
  await committer.idle();
  load(clock, 500);
  commits.length = 0;
  return { clock, committer, commits };
}

describe("a committer under load", () => {
  test("commits chunks that came one after the other together", async () => {
    const { committer, commits, clock } = await openLoaded();
    const sources = Array.from({ length: 5 }, () => new Source());
    for (const source of sources) {
      committer.mark(source, false);
      await turn();
      await turn();
    }
    expect(commits).toEqual([]);
    clock.now += 10;
    await Promise.all(sources.map(({ done }) => done));
    expect(commits).toEqual([5]);
  });

  test("does not wait if something else than chunks is to be committed, and takes the chunks along", async () => {
    const { committer, commits, clock } = await openLoaded();
    const [chunks, urgent] = [new Source(), new Source()];
    committer.mark(chunks, false);
    await turn();
    expect(commits).toEqual([]);
    committer.mark(urgent, true);
    await Promise.all([chunks.done, urgent.done]);
    expect(commits).toEqual([2]);
    expect(clock.now).toBe(100);
  });

  test("does not wait any more if something waits for the chunks", async () => {
    const { committer, commits } = await openLoaded();
    const source = new Source();
    committer.mark(source, false);
    await turn();
    expect(commits).toEqual([]);
    committer.mark(source, true);
    await turn();
    await turn();
    expect(commits).toEqual([1]);
    await source.done;
  });

  test("does not wait when the server shuts down", async () => {
    const { committer, commits } = await openLoaded();
    const source = new Source();
    committer.mark(source, false);
    const idle = committer.idle();
    await turn();
    await turn();
    expect(commits).toEqual([1]);
    await idle;
  });
});
