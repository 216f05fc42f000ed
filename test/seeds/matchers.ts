import { expect } from "vitest";

/** An id that the server generated. */
export const ID: unknown = expect.stringMatching(/./);

/** A timestamp in the format of every version: UTC, with milliseconds. */
export const TIME: unknown = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/);
