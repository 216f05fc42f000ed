import { afterAll, beforeAll, vi } from "vitest";

/** The official servers log every refusal to the console; refusals are expected here, so this silences them. */
export function silenceConsole(): void {
  beforeAll(() => {
    for (const method of ["error", "warn", "log"] as const) vi.spyOn(console, method).mockImplementation(() => {});
  });
  afterAll(() => {
    vi.restoreAllMocks();
  });
}
