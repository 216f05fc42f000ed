import { type A2AError, invalidField } from "../protocol/error.ts";
import type { DeadLetter } from "../push/contract.ts";
import type { ListCursor } from "../store/contract.ts";

/** Longer texts are not cursors of this server. */
const MAX_LENGTH = 2048;

/** A position in a list as text for URLs. */
export function writeCursor({ at, id }: ListCursor): string {
  return encode([at, id]);
}

/** Throws `invalid-params` for text that `writeCursor` did not write. */
export function readCursor(text: string): ListCursor {
  const [at, id] = decode(text);
  if (typeof at !== "number" || !Number.isFinite(at) || typeof id !== "string") throw notACursor();
  return { at, id };
}

/** The members of a dead letter that its place in the list depends on. */
export type DeadLetterPlace = Pick<DeadLetter, "failedAt" | "taskId" | "configId" | "agent" | "tenant" | "owner">;

/** The place of a dead letter in the list of all, as text for URLs. */
export function writeDeadLetterCursor(place: DeadLetterPlace): string {
  const { failedAt, taskId, configId, agent, tenant, owner } = place;
  return encode([failedAt, taskId, configId, agent, tenant, owner]);
}

/** Throws `invalid-params` for text that `writeDeadLetterCursor` did not write. */
export function readDeadLetterCursor(text: string): DeadLetterPlace {
  const values = decode(text);
  if (values.length !== 6 || values.some((value) => typeof value !== "string")) throw notACursor();
  const [failedAt = "", taskId = "", configId = "", agent = "", tenant = "", owner = ""] = values.map(String);
  if (Number.isNaN(Date.parse(failedAt))) throw notACursor();
  return { failedAt, taskId, configId, agent, tenant, owner };
}

function encode(values: readonly unknown[]): string {
  return Buffer.from(JSON.stringify(values)).toString("base64url");
}

function decode(text: string): readonly unknown[] {
  const value = text.length > MAX_LENGTH ? undefined : parse(Buffer.from(text, "base64url").toString());
  return Array.isArray(value) ? value : [];
}

function notACursor(): A2AError {
  return invalidField("cursor", "must be the `next` of an earlier page");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
