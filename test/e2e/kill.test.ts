import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { IS_FULL } from "../fixtures/budget.ts";
import { type Call, collect, eventsOf, type Frame, idsUpTo, must, open, sendParams, type Task, textOf } from "./rpc.ts";
import { fixture, type Serving, Workbench } from "./workbench.ts";

/** The numbers of events after which a task is interrupted, by kill. In full, each has a kill of its own. */
const BOUNDARIES = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
const KILLS: readonly (readonly number[])[] = IS_FULL ? BOUNDARIES.map((boundary) => [boundary]) : [BOUNDARIES];
/** Chunks of each of the concurrent streams. */
const CHUNKS = 1000;

let bench: Workbench;
beforeEach(() => {
  bench = new Workbench();
});
afterEach(() => bench.close());

/** The state of a status update frame; otherwise undefined. */
const stateOf = ({ result }: Frame) => result.statusUpdate?.status.state;

describe("a server that was killed and restarted", () => {
  it("resumes a countdown, and its stream reader receives every event exactly once", async () => {
    const args = ["--demo", "--store", "sqlite:tasks.db"];
    const first = await bench.serve(args);
    const path = "/agents/countdown/";
    const params = sendParams("3");
    const before = await collect(
      first.url + path,
      { method: "SendStreamingMessage", params },
      (frame) => textOf([frame]) !== "2 ",
    );
    await first.kill("SIGKILL");

    const second = await bench.serve(args);
    const id = before[0]?.result.task?.id;
    const after = await collect(second.url + path, {
      method: "SubscribeToTask",
      params: { id },
      after: before.at(-1)?.id,
    });
    expect(after[0]?.result.task?.id).toBe(id);
    const events = eventsOf([...before, ...after]);
    expect(events.map((frame) => frame.id)).toEqual(idsUpTo(events.length));
    expect(textOf(events)).toBe("3 2 1 Lift-off!");
    expect(events.map(stateOf).at(-1)).toBe("TASK_STATE_COMPLETED");
  });

  it("loses, repeats and changes no event when killed between two of ten events", async () => {
    const serve = () => bench.serve([fixture("ten-events.ts"), "--store", "sqlite:tasks.db"]);
    const begin = async (server: Serving, name: string, upTo: number) => {
      for (let event = 2; event <= upTo; event++) bench.openGate(`${name}-${event}`);
      return collect(
        server.url,
        { method: "SendStreamingMessage", params: sendParams(name) },
        ({ id }) => id < Math.min(upTo, 10),
      );
    };
    const finish = async (server: Serving, name: string, before: readonly Frame[]) => {
      for (let event = 2; event <= 10; event++) bench.openGate(`${name}-${event}`);
      const id = before[0]?.result.task?.id;
      const last = before.at(-1)?.id ?? 0;
      // A finished task that was read to its end has nothing left to resume.
      const after =
        last === 10 ? [] : await collect(server.url, { method: "SubscribeToTask", params: { id }, after: last });
      const events = eventsOf([...before, ...after]);
      expect(events.map((event) => event.id)).toEqual(idsUpTo(10));
      const steps = bench.lines("steps").filter((line) => line.startsWith(`${name}-`));
      expect([...new Set(steps)]).toEqual([3, 4, 5, 6, 7, 8, 9].map((event) => `${name}-${event}`));
      // Only the step that ran at the moment of the kill may run a second time.
      expect(steps.length).toBeLessThanOrEqual(name.startsWith("crossing") ? 8 : 7);
      // Reading the whole stream later gives the same events, and GetTask the same task.
      const replayed = await collect(server.url, { method: "SubscribeToTask", params: { id }, after: 0 });
      expect(eventsOf(replayed)).toEqual(events);
      return must<Task>(server.url, "GetTask", { id });
    };

    let server = await serve();
    const undisturbed = await finish(server, "undisturbed", await begin(server, "undisturbed", 10));
    expect(undisturbed.artifacts?.map(({ parts }) => parts.map((part) => part.text).join(""))).toEqual([
      "word 3 word 5 word 7 word 9 ",
      "word 4 word 6 word 8 ",
    ]);
    for (const boundaries of KILLS) {
      const begun: (readonly [string, readonly Frame[]])[] = [];
      // One task waits at the boundary; another is crossing it when the server is killed.
      for (const boundary of boundaries)
        for (const name of [`still${boundary}`, `crossing${boundary}`])
          begun.push([name, await begin(server, name, boundary)]);
      for (const boundary of boundaries) bench.openGate(`crossing${boundary}-${boundary + 1}`);
      await sleep(boundaries[0] ?? 0);
      await server.kill("SIGKILL");
      server = await serve();
      for (const [name, before] of begun) {
        const { status, artifacts } = await finish(server, name, before);
        expect({ state: status.state, artifacts }).toEqual({
          state: "TASK_STATE_COMPLETED",
          artifacts: undisturbed.artifacts,
        });
      }
    }
  }, 60_000);

  it("loses and repeats no event of many concurrent streams", async () => {
    const serve = () => bench.serve([fixture("long-stream.ts"), "--store", "sqlite:tasks.db"]);
    const readers = Array.from({ length: 10 }, (): { call: Call; frames: Frame[] } => ({
      call: { method: "SendStreamingMessage", params: sendParams(String(CHUNKS)) },
      frames: [],
    }));
    const isOver = (frames: readonly Frame[]) => frames.map(stateOf).at(-1) === "TASK_STATE_COMPLETED";
    let server = await serve();
    const readAll = () =>
      Promise.all(
        readers.map(async (reader) => {
          if (isOver(reader.frames)) return;
          const stream = await open(server.url, reader.call);
          for await (const frame of stream.frames) reader.frames.push(frame);
          const id = reader.frames[0]?.result.task?.id;
          reader.call = { method: "SubscribeToTask", params: { id }, after: reader.frames.at(-1)?.id };
        }),
      );
    for (const milestone of [CHUNKS / 5, (CHUNKS * 3) / 5]) {
      const reading = readAll();
      // At once: the streams must not have ended when the server is killed.
      while (!readers.every(({ frames }) => (frames.at(-1)?.id ?? 0) > milestone)) await sleep(5);
      await server.kill("SIGKILL");
      await reading;
      server = await serve();
    }
    await readAll();
    const [first, ...others] = readers.map(({ frames }) => eventsOf(frames));
    // Besides the chunks: working, the empty chunk that closes the artifact, completed.
    expect(first?.map(({ id }) => id)).toEqual(idsUpTo(CHUNKS + 3));
    expect(
      textOf(first ?? [])
        .split("\n")
        .map(Number.parseFloat),
    ).toEqual([...idsUpTo(CHUNKS), Number.NaN]);
    for (const events of others) {
      expect(events.map(({ id }) => id)).toEqual(idsUpTo(CHUNKS + 3));
      expect(textOf(events)).toBe(textOf(first ?? []));
    }
  });
});
