import type { OperatorAnswer } from "../../operator/answer-task.ts";
import { invalidField } from "../../protocol/error.ts";
import type { JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";

/** `{}`. Throws `invalid-params`. */
export function emptyBody(members: ReadonlyMap<string, unknown>): void {
  for (const name of members.keys()) throw invalidField(name.slice(0, 64), "is not a member; the body must be {}");
}

/** An answer in the body of a request. */
export type AnswerBody = Pick<OperatorAnswer, "parts" | "requestId" | "seq">;

const MEMBERS: readonly string[] = ["text", "data", "requestId", "seq"];

/** `{ text }`, `{ data }` or both, with `requestId` and `seq` of the question that was seen. Throws `invalid-params`. */
export function answerFrom(members: ReadonlyMap<string, unknown>): AnswerBody {
  for (const name of members.keys()) {
    if (!MEMBERS.includes(name)) throw invalidField(name.slice(0, 64), `is not a member; use ${MEMBERS.join(", ")}`);
  }
  const [requestId, seq] = [members.get("requestId"), members.get("seq")];
  if (requestId !== undefined && typeof requestId !== "string") throw invalidField("requestId", "must be a string");
  if (seq !== undefined && !(typeof seq === "number" && Number.isSafeInteger(seq) && seq >= 0))
    throw invalidField("seq", "must be a whole number");
  return { parts: partsFrom(members), requestId, seq };
}

function partsFrom(members: ReadonlyMap<string, unknown>): readonly Part[] {
  const text = members.get("text");
  if (text !== undefined && typeof text !== "string") throw invalidField("text", "must be a string");
  // Safe cast: the body was parsed from JSON.
  const data = members.get("data") as JsonValue | undefined;
  const parts: readonly Part[] = [...(text === undefined ? [] : [{ text }]), ...(data === undefined ? [] : [{ data }])];
  if (parts.length === 0) throw invalidField("text", "or data is required");
  return parts;
}
