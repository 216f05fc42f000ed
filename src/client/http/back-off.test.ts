import { describe, expect, it } from "vitest";
import { FakeClock } from "../../testing/fake-clock.ts";
import { backOff, mayRepeat, repeating } from "./back-off.ts";
import { RemoteError } from "./errors.ts";
import { clientSettings } from "./settings.ts";

const network = (code?: string): RemoteError =>
  new RemoteError("network", "gone", {
    cause: new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code }) }),
  });
const unavailable = (httpStatus: number, retryAfter?: number): RemoteError =>
  new RemoteError("unavailable", "busy", { remote: { httpStatus, ...(retryAfter !== undefined && { retryAfter }) } });

describe("A retry", () => {
  it("waits twice as long after each failure, varied at random", () => {
    const { retry } = clientSettings({ retry: { baseDelay: 100, maxDelay: 1000 } });
    const delays = (random: number): number[] =>
      [1, 2, 3, 4, 5, 9].map((failures) => backOff({ retry, random: () => random }, failures));
    expect(delays(1)).toEqual([100, 200, 400, 800, 1000, 1000]);
    expect(delays(0)).toEqual([50, 100, 200, 400, 500, 500]);
  });

  it.each([
    ["HTTP 408, the request did not arrive in time", unavailable(408), [true, true]],
    ["HTTP 429", unavailable(429), [true, true]],
    ["HTTP 503", unavailable(503), [true, true]],
    ["HTTP 504", unavailable(504), [true, false]],
    ["a refused connection", network("ECONNREFUSED"), [true, true]],
    ["an unknown host name", network("ENOTFOUND"), [true, true]],
    ["an untrusted certificate", network("UNABLE_TO_VERIFY_LEAF_SIGNATURE"), [true, true]],
    ["a certificate for another host", network("ERR_TLS_CERT_ALTNAME_INVALID"), [true, true]],
    ["a broken connection", network("ECONNRESET"), [true, false]],
    ["a network error without a code", network(), [true, false]],
    ["an error of the agent", new RemoteError("invalid-params", "no"), [false, false]],
    ["a timeout", new RemoteError("timeout", "late"), [false, false]],
  ] as const)("after %s: for safe and for unsafe calls", (_, error, expected) => {
    expect([mayRepeat(error, true), mayRepeat(error, false)]).toEqual(expected);
  });

  it("is safe if all addresses of a host refused the connection", () => {
    const refused = Object.assign(new Error("no"), { code: "ECONNREFUSED" });
    const reset = Object.assign(new Error("no"), { code: "ECONNRESET" });
    const failed = (...errors: Error[]): RemoteError =>
      new RemoteError("network", "gone", { cause: new TypeError("failed", { cause: new AggregateError(errors) }) });
    expect(mayRepeat(failed(refused, refused), false)).toBe(true);
    expect(mayRepeat(failed(refused, reset), false)).toBe(false);
  });
});

describe("Repeating a call", () => {
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

  it("waits longer each time until the call succeeds", async () => {
    expect(await run([network(), network()], [100, 200])).toBe("done");
  });

  it("waits as long as the server asks for if that is longer", async () => {
    expect(await run([unavailable(503, 7), unavailable(503, 0)], [7000, 200])).toBe("done");
  });

  it("ends after the last attempt, and at once if a retry cannot help", async () => {
    expect(await run([network(), network(), network(), network()], [100, 200])).toBe("network");
    expect(await run([unavailable(503, 3600)], [])).toBe("unavailable");
    expect(await run([new RemoteError("invalid-params", "no")], [])).toBe("invalid-params");
  });

  it("ends when the caller aborts", async () => {
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
