/** Checks of the conformance kit that are expected to fail, with the reason, by revision. An entry whose check passes is an error. */
export const BASELINE: Readonly<Record<"2026-07-28" | "2025-11-25", Readonly<Record<string, string>>>> = {
  "2026-07-28": {},
  "2025-11-25": {},
};
