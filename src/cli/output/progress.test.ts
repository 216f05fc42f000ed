import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { startProgress } from "./progress.ts";

let shown: string;
const sink = (isTTY: boolean) => ({
  isTTY,
  async write(text: string) {
    shown += text;
  },
});
beforeEach(() => {
  shown = "";
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

describe("the progress line", () => {
  it("is drawn on a terminal and erased at the end", async () => {
    const progress = startProgress(sink(true), {}, Date.now);
    progress.say("working: \u001b[2Jlooking at\nthe weather");
    vi.advanceTimersByTime(3000);
    expect(shown).toContain("working: \\u001b[2Jlooking at the weather (3 s)");
    await progress.stop();
    expect(shown.endsWith("\r\u001b[2K")).toBe(true);
    const before = shown;
    vi.advanceTimersByTime(3000);
    expect(shown).toBe(before);
  });

  it.each([
    [false, {}],
    [true, { TERM: "dumb" }],
    [true, { CI: "true" }],
  ])("is not drawn without a terminal, on a dumb terminal, or in CI: isTTY %s, environment %j", async (isTTY, env) => {
    const progress = startProgress(sink(isTTY), env, Date.now);
    progress.say("working");
    vi.advanceTimersByTime(3000);
    await progress.stop();
    expect(shown).toBe("");
  });
});
