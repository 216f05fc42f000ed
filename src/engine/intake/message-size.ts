import { A2AError } from "../../protocol/error.ts";
import type { Message } from "../../protocol/message.ts";
import type { Limits } from "../limits.ts";

/** Refuses a message of more parts than it may have. */
export function checkParts({ maxParts }: Limits, { parts }: Message): void {
  if (parts.length > maxParts) throw new A2AError("payload-too-large", `A message may have ${maxParts} parts.`);
}

/** Refuses a message that is larger, as it is stored, than it may be. */
export function checkSize({ maxMessageBytes }: Limits, body: string): void {
  if (body.length > maxMessageBytes)
    throw new A2AError("payload-too-large", `A message may be ${maxMessageBytes} bytes.`);
}
