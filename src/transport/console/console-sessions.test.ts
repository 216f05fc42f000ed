import { describe, expect, it } from "vitest";
import { createConsoleSessions } from "./console-sessions.ts";

const DAY = 24 * 60 * 60 * 1000;

describe("sessions of the console", () => {
  it("are opened by the code of this start alone", () => {
    const sessions = createConsoleSessions({ secret: "s".repeat(32) });
    const other = createConsoleSessions({ secret: "s".repeat(32) });
    expect(sessions.open(other.code)).toBeUndefined();
    expect(sessions.open("")).toBeUndefined();
    const { token = "" } = sessions.open(sessions.code) ?? {};
    expect(sessions.isValid(token)).toBe(true);
  });

  it("stay valid after a restart with the same secret, and not with another one", () => {
    const before = createConsoleSessions({ secret: "s".repeat(32) });
    const { token } = before.open(before.code) ?? {};
    expect(createConsoleSessions({ secret: "s".repeat(32) }).isValid(token)).toBe(true);
    expect(createConsoleSessions({ secret: "t".repeat(32) }).isValid(token)).toBe(false);
  });

  it("end after 24 hours, and a later end cannot be written into the token", () => {
    let now = 1_800_000_000_000;
    const sessions = createConsoleSessions({ secret: "s".repeat(32), now: () => now });
    const { token = "", expiresAt } = sessions.open(sessions.code) ?? {};
    expect(expiresAt).toBe(new Date(now + DAY).toISOString());
    now += DAY - 1;
    expect(sessions.isValid(token)).toBe(true);
    now += 1;
    expect(sessions.isValid(token)).toBe(false);
    const later = (now + DAY).toString(36);
    expect(sessions.isValid(token.replace(/^plc_[^.]+/, `plc_${later}`))).toBe(false);
  });

  it.each([undefined, "", "plc_", "plc_zz.", "Bearer x", `plc_${"z".repeat(12)}.${"A".repeat(43)}`])(
    "refuses %j",
    (token) => {
      expect(createConsoleSessions({ secret: "s".repeat(32) }).isValid(token)).toBe(false);
    },
  );
});
