import { describe, expect, it } from "vitest";
import { FakeClock } from "../../testing/fake-clock.ts";
import { RemoteError } from "../http/errors.ts";
import type { ConnectionEnd } from "./follow-state.ts";
import { pauseLength } from "./pause-length.ts";

const settings = {
  retry: { attempts: 3, reconnects: 5, baseDelay: 100, maxDelay: 10_000 },
  clock: new FakeClock(),
  random: () => 1,
};
const busy = new RemoteError("unavailable", "Busy", { remote: { retryAfter: 3 } });
const closed: ConnectionEnd = { name: "closed", received: true, progressed: true };
const broken: ConnectionEnd = { ...closed, name: "broken" };

describe("pauseLength", () => {
  it.each([
    ["a fixed pause as it is", { kind: "fixed", milliseconds: 7 }, 7],
    ["a retry: at least what the server asks for", { kind: "retry", error: busy, failures: 1 }, 3000],
    ["a broken connection with new events: almost nothing", { kind: "reconnect", ended: broken, failures: 0 }, 10],
    ["a closed connection with new events: the base delay", { kind: "reconnect", ended: closed, failures: 0 }, 100],
    ["failures: twice as long each time", { kind: "reconnect", ended: broken, failures: 3 }, 400],
    [
      "the server's retry field, plus up to 25 %",
      { kind: "reconnect", ended: { ...broken, retry: 400 }, failures: 0 },
      500,
    ],
    ["never longer than maxDelay", { kind: "reconnect", ended: { ...broken, retry: 60_000 }, failures: 0 }, 10_000],
  ] as const)("%s", (_name, pause, expected) => {
    expect(pauseLength(settings, pause)).toBe(expected);
  });
});
