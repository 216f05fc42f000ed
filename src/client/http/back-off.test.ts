import { describe, expect, it } from "vitest";
import { FakeClock } from "../../testing/fake-clock.ts";
import { backOff, mayRepeat, repeating } from "./back-off.ts";
import { RemoteError } from "./errors.ts";
import { clientSettings } from "./settings.ts";

const network = (code?: string): RemoteError =>
  new RemoteError("network", "gone", {
    cause: new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code }) }),
  });
const told = (httpStatus: number, retryAfter?: number): RemoteError =>
  new RemoteError("unavailable", "busy", { remote: { httpStatus, ...(retryAfter !== undefined && { retryAfter }) } });

describe("Another try", () => {
  it("comes later the more have failed, never twice at quite the same time", () => {
    const { retry } = clientSettings({ retry: { baseDelay: 100, maxDelay: 1000 } });
    const delays = (random: number): number[] =>
      [1, 2, 3, 4, 5, 9].map((failures) => backOff({ retry, random: () => random }, failures));
    expect(delays(1)).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(delays(0)).toEqual([50, 100, 200, 400, 500, 500]);
  });

  it.each([
    ["a server that says it is busy", told(429), [true, true]],
    ["a server that is not there yet", told(503), [true, true]],
    ["a gateway that gave up waiting", told(504), [true, false]],
    ["a connection that was refused", network("ECONNREFUSED"), [true, true]],
    ["a name that nobody knows", network("ENOTFOUND"), [true, true]],
    ["a certificate that nobody trusted has signed", network("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), [true, true]],
    ["a certificate of somebody else", network("ERR_TLS_CERT_ALTNAME_INVALID"), [true, true]],
    ["a connection that broke", network("ECONNRESET"), [true, false]],
    ["something that says nothing of itself", network(), [true, false]],
    ["a verdict", new RemoteError("invalid-params", "no"), [false, false]],
    ["time that is over", new RemoteError("timeout", "late"), [false, false]],
  ] as const)("after %s, where that is safe and where it is not", (_, error, expected) => {
    expect([mayRepeat(error, true), mayRepeat(error, false)]).toEqual(expected);
  });

  it("is made of several addresses that all refused", () => {
    const refused = Object.assign(new Error("no"), { code: "ECONNREFUSED" });
    const reset = Object.assign(new Error("no"), { code: "ECONNRESET" });
    const failed = (...errors: Error[]): RemoteError =>
      new RemoteError("network", "gone", { cause: new TypeError("failed", { cause: new AggregateError(errors) }) });
    expect(mayRepeat(failed(refused, refused), false)).toBe(true);
    expect(mayRepeat(failed(refused, reset), false)).toBe(false);
  });
});

describe("Trying again", () => {
  async function run(errors: readonly RemoteError[], waits: readonly number[]): Promise<string> {
    const clock = new FakeClock();
    const settings = clientSettings({ clock, random: () => 1, retry: { attempts: 3, baseDelay: 100 } });
    let tries = 0;
    const trying = repeating(settings, { isSafe: () => true, signal: new AbortController().signal }, () => {
      const error = errors[tries++];
      return error === undefined ? Promise.resolve("done") : Promise.reject(error);
    }).catch((error: RemoteError) => error.code);
    for (const wait of waits) {
      await clock.advance(wait - 1);
      const before = tries;
      await clock.advance(1);
      expect(tries).toBe(before + 1);
    }
    expect(clock.pending).toBe(0);
    return trying;
  }

  it("waits longer each time, until it works", async () => {
    expect(await run([network(), network()], [100, 200])).toBe("done");
  });

  it("waits as long as the server asks for, if that is longer", async () => {
    expect(await run([told(503, 7), told(503, 0)], [7000, 200])).toBe("done");
  });

  it("ends after so many tries, and at once where waiting is no use", async () => {
    expect(await run([network(), network(), network(), network()], [100, 200])).toBe("network");
    expect(await run([told(503, 3600)], [])).toBe("unavailable");
    expect(await run([new RemoteError("invalid-params", "no")], [])).toBe("invalid-params");
  });

  it("ends when its caller gives up", async () => {
    const clock = new FakeClock();
    const controller = new AbortController();
    const settings = clientSettings({ clock });
    const trying = repeating(settings, { isSafe: () => true, signal: controller.signal }, () =>
      Promise.reject(network()),
    );
    const reason = new RemoteError("aborted", "enough");
    await clock.advance(1);
    controller.abort(reason);
    await expect(trying).rejects.toBe(reason);
    expect(clock.pending).toBe(0);
  });
});
