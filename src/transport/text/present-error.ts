import type { A2AError } from "../../protocol/error.ts";
import { challengesOf } from "../challenges.ts";
import type { FullReply } from "../exchange.ts";
import type { TextCall } from "./text-call.ts";

/** Seconds after which a caller may try again if an `unavailable` error does not say when. */
const DEFAULT_RETRY_AFTER = 5;

/** Writes an error as JSON, with the status, challenges and `Retry-After` that go with it. */
export function presentError(call: TextCall, error: A2AError): FullReply {
  const { codec, envelope } = call;
  const headers: Record<string, string> = { ...call.headers, ...call.limitHeaders };
  const challenges = challengesOf(error);
  if (challenges !== undefined) headers["www-authenticate"] = challenges;
  const retryAfter = error.retryAfter ?? (error.code === "unavailable" ? DEFAULT_RETRY_AFTER : undefined);
  if (retryAfter !== undefined) headers["retry-after"] = String(Math.ceil(retryAfter));
  return { status: codec.statusOf(error), headers, body: envelope.error(codec.encodeError(error)) };
}
