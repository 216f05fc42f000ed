import { expect } from "vitest";

/** An id the server made. */
export const ID: unknown = expect.stringMatching(/./);

/** A time as every version is told it: UTC, with milliseconds. */
export const TIME: unknown = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
