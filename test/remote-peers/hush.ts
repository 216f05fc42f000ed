import { afterAll, beforeAll, vi } from "vitest";

/** The official servers write to the console about every refusal, which is what they are here for. */
export function hush(): void {
  beforeAll(() => {
    for (const method of ["error", "warn", "log"] as const) vi.spyOn(console, method).mockImplementation(() => {});
  });
  afterAll(() => {
    vi.restoreAllMocks();
  });
}
