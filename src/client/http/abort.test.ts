import { describe, expect, it } from "vitest";
import { FakeClock } from "../../testing/fake-clock.ts";
import { createDeadline, pause, untilAborted } from "./abort.ts";

describe("A deadline", () => {
  it("aborts at the timeout and not before", async () => {
    const clock = new FakeClock();
    const deadline = createDeadline(clock, { timeout: 100 });
    await clock.advance(99);
    expect(deadline.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(deadline.signal.reason).toMatchObject({ code: "timeout" });
    expect(deadline.error).toBe(deadline.signal.reason);
  });

  it("aborts with the caller's signal if that comes first", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const deadline = createDeadline(clock, { signal: controller.signal, timeout: 100 });
    const reason = new Error("enough");
    controller.abort(reason);
    expect(deadline.signal.reason).toMatchObject({ code: "aborted", cause: reason });
    await clock.advance(100);
    expect(deadline.error).toMatchObject({ code: "aborted" });
    expect(createDeadline(clock, { signal: controller.signal }).signal.aborted).toBe(true);
  });

  it("removes its timer and listener on release", () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const deadline = createDeadline(clock, { signal: controller.signal, timeout: 100 });
    deadline.release();
    controller.abort();
    expect(clock.pending).toBe(0);
    expect(deadline.signal.aborted).toBe(false);
    createDeadline(clock, { timeout: Number.POSITIVE_INFINITY });
    expect(clock.pending).toBe(0);
  });
});

describe("Waiting", () => {
  it("rejects with the signal's reason", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const waits = [
      untilAborted(new Promise(() => {}), controller.signal),
      pause(new FakeClock(), 1000, controller.signal),
    ];
    controller.abort(reason);
    for (const wait of waits) await expect(wait).rejects.toBe(reason);
    await expect(untilAborted(Promise.resolve(1), controller.signal)).rejects.toBe(reason);
    await expect(pause(new FakeClock(), 0, controller.signal)).rejects.toBe(reason);
  });

  it("passes on results and errors", async () => {
    const { signal } = new AbortController();
    await expect(untilAborted(Promise.resolve(1), signal)).resolves.toBe(1);
    await expect(untilAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  });

  it("lasts as long as requested", async () => {
    const clock = new FakeClock();
    let over = false;
    const waiting = pause(clock, 100, new AbortController().signal).then(() => {
      over = true;
    });
    await clock.advance(99);
    expect(over).toBe(false);
    await clock.advance(1);
    await waiting;
    expect(clock.pending).toBe(0);
  });
});
