import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { PullSource } from "../exchange.ts";
import { type AnswerKind, Answers } from "./answers.ts";

const KB = 1024;
const MB = 1024 * KB;
const KIND: AnswerKind = { afterWork: false, ended: () => undefined };

async function* pieces(...texts: readonly string[]): AsyncGenerator<string> {
  for (const text of texts) yield text;
}

async function readAll(source: PullSource<string>): Promise<string[]> {
  const texts: string[] = [];
  for (let text = await source.pull(); text !== undefined; text = await source.pull()) texts.push(text);
  return texts;
}

describe("longer answers", () => {
  const create = (maxBytes = 10 * MB) => new Answers({ maxBytes, readerTimeoutMs: 60_000 });

  test("are refused as unavailable over the limit, until others are read or canceled", async () => {
    const answers = create();
    const first = answers.ofText("x".repeat(6 * MB), KIND);
    const refused = () => answers.ofText("x".repeat(5 * MB), KIND);
    expect(refused).toThrow(expect.objectContaining({ code: "unavailable", retryAfter: 5 }));
    expect(answers.held).toBe(6 * MB);
    await readAll(first);
    expect(answers.held).toBe(0);
    const second = refused();
    second.cancel();
    second.cancel();
    expect(answers.held).toBe(0);
  });

  test("release memory as they are read", async () => {
    const answers = create();
    const source = answers.ofText("x".repeat(6 * MB), KIND);
    for (let n = 0; n < 13; n++) await source.pull();
    expect(answers.held).toBeLessThanOrEqual(3 * MB);
  });

  test("of operations that changed something are refused only at twice the limit", () => {
    const answers = create();
    const afterWork = { ...KIND, afterWork: true };
    for (let n = 0; n < 3; n++) answers.ofText("x".repeat(6 * MB), afterWork);
    expect(() => answers.ofText("x".repeat(6 * MB), afterWork)).toThrow("Too many large answers");
  });

  test("may exceed the limit if no other answer is being sent", () => {
    expect(() => create(1).ofText("x".repeat(MB), KIND)).not.toThrow();
  });

  test("are sent in slices that split no character", async () => {
    const text = `x${"🙂".repeat(300 * KB)}`;
    const slices = await readAll(create().ofText(text, KIND));
    expect(slices.length).toBeGreaterThan(2);
    expect(slices.every((slice) => slice.isWellFormed())).toBe(true);
    expect(slices.join("") === text).toBe(true);
  });

  test("join short pieces and split long ones", async () => {
    const answers = create();
    const source = answers.ofPieces(pieces("[", ",".repeat(1000), "x".repeat(MB), "", "]"), 0, KIND);
    const texts = await readAll(source);
    expect(texts.join("")).toBe(`[${",".repeat(1000)}${"x".repeat(MB)}]`);
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(256 * KB);
    expect(answers.held).toBe(0);
  });

  test("reject with the error of their pieces, and release their memory", async () => {
    const answers = create();
    const ended = vi.fn<(error: unknown) => void>();
    const broken = new Error("gone");
    const source = answers.ofPieces(
      (async function* () {
        yield "x".repeat(100 * KB);
        throw broken;
      })(),
      0,
      { ...KIND, ended },
    );
    await source.pull();
    await expect(source.pull()).rejects.toBe(broken);
    expect([answers.held, ended.mock.calls]).toEqual([0, [[broken]]]);
  });

  describe("whose reader reads nothing", () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    test("are disconnected after a minute, and release their memory", async () => {
      const answers = create();
      const disconnect = vi.fn<() => void>();
      const source = answers.ofPieces(pieces("x".repeat(MB)), 0, KIND);
      source.connected(disconnect);
      await source.pull();
      vi.advanceTimersByTime(59_000);
      await source.pull();
      vi.advanceTimersByTime(59_000);
      expect(disconnect).not.toHaveBeenCalled();
      expect(answers.held).toBeGreaterThan(MB);
      vi.advanceTimersByTime(31_000);
      expect(disconnect).toHaveBeenCalledOnce();
      expect(answers.held).toBe(0);
      expect(await source.pull()).toBeUndefined();
      expect(vi.getTimerCount()).toBe(0);
    });

    test("stay connected while the next piece is being produced", async () => {
      const answers = create();
      const disconnect = vi.fn<() => void>();
      let make: (text: string) => void = () => undefined;
      const made = new Promise<string>((resolve) => {
        make = resolve;
      });
      const source = answers.ofPieces(
        (async function* () {
          yield await made;
        })(),
        0,
        KIND,
      );
      source.connected(disconnect);
      const pulled = source.pull();
      vi.advanceTimersByTime(600_000);
      make("late");
      expect(await pulled).toBe("late");
      expect(disconnect).not.toHaveBeenCalled();
      source.cancel();
    });
  });
});
