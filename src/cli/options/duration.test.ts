import { expect, it } from "vitest";
import { parseDuration } from "./duration.ts";

it.each([
  ["500ms", 500],
  ["2s", 2000],
  ["1.5m", 90_000],
  ["1m30s", 90_000],
  ["1h", 3_600_000],
  ["3", 3000],
  ["0", 0],
  ["", undefined],
  ["-1s", undefined],
  ["2 s", undefined],
  ["soon", undefined],
  ["9999h", undefined],
])("parses %j as %s milliseconds", (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});
