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

describe("answers under way", () => {
  const create = (maxBytes = 10 * MB) => new Answers({ maxBytes, readerTimeoutMs: 60_000 });

  test("are refused as unavailable beyond the limit, until others are read or given up", async () => {
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

  test("count less the more of them is read", async () => {
    const answers = create();
    const source = answers.ofText("x".repeat(6 * MB), KIND);
    for (let n = 0; n < 13; n++) await source.pull();
    expect(answers.held).toBeLessThanOrEqual(3 * MB);
  });

  test("that are the result of work are refused only at twice the limit", () => {
    const answers = create();
    const afterWork = { ...KIND, afterWork: true };
    for (let n = 0; n < 3; n++) answers.ofText("x".repeat(6 * MB), afterWork);
    expect(() => answers.ofText("x".repeat(6 * MB), afterWork)).toThrow("Too many large answers");
  });

  test("may be larger than the limit where there is no other", () => {
    expect(() => create(1).ofText("x".repeat(MB), KIND)).not.toThrow();
  });

  test("come in slices that add up to the text and break no character", async () => {
    const text = `x${"🙂".repeat(300 * KB)}`;
    const slices = await readAll(create().ofText(text, KIND));
    expect(slices.length).toBeGreaterThan(2);
    expect(slices.every((slice) => slice.isWellFormed())).toBe(true);
    expect(slices.join("") === text).toBe(true);
  });

  test("gather short pieces, and cut long ones", async () => {
    const answers = create();
    const source = answers.ofPieces(pieces("[", ",".repeat(1000), "x".repeat(MB), "", "]"), 0, KIND);
    const texts = await readAll(source);
    expect(texts.join("")).toBe(`[${",".repeat(1000)}${"x".repeat(MB)}]`);
    expect(Math.max(...texts.map(({ length }) => length))).toBeLessThanOrEqual(256 * KB);
    expect(answers.held).toBe(0);
  });

  test("whose pieces cannot be made reject, release their bytes and say why", async () => {
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

  describe("whose reader takes nothing", () => {
    beforeEach(() => {
      vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    test("are broken off after a minute, and their bytes released", async () => {
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

    test("stay while the next piece is being made, however long that takes", async () => {
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
