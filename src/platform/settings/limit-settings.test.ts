import { describe, expect, it } from "vitest";
import { DEFAULT_MAX_STREAMS } from "../../transport/options.ts";
import { limitSettingsFrom } from "./limit-settings.ts";

describe("maxStreams", () => {
  it.each([
    ["by default", {}, DEFAULT_MAX_STREAMS],
    ["if it is raised", { maxStreams: 50_000 }, 50_000],
    ["if it is lifted", { maxStreams: Number.POSITIVE_INFINITY }, Number.POSITIVE_INFINITY],
  ])("is reached before maxSubscribers %s, because every stream is a subscription", (_, limits, maxStreams) => {
    expect(limitSettingsFrom({ limits }).engineLimits.maxSubscribers).toBeGreaterThanOrEqual(maxStreams);
  });

  it("does not lower maxSubscribers, and does not change one that is set", () => {
    const byDefault = limitSettingsFrom({}).engineLimits.maxSubscribers;
    expect(limitSettingsFrom({ limits: { maxStreams: 1 } }).engineLimits.maxSubscribers).toBe(byDefault);
    const both = limitSettingsFrom({ limits: { maxStreams: 500, maxSubscribers: 100 } });
    expect(both).toMatchObject({ engineLimits: { maxSubscribers: 100 }, transportLimits: { maxStreams: 500 } });
  });
});
