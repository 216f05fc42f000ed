import { A2AError } from "../../protocol/error.ts";
import type { Message } from "../../protocol/message.ts";
import type { Limits } from "../limits.ts";

/** Throws `payload-too-large` if the message has more than `maxParts` parts. */
export function checkParts({ maxParts }: Limits, { parts }: Message): void {
  if (parts.length > maxParts) throw new A2AError("payload-too-large", `A message may have at most ${maxParts} parts.`);
}

/** Throws `payload-too-large` if the message's stored text is longer than `maxMessageBytes`. */
export function checkSize({ maxMessageBytes }: Limits, body: string): void {
  if (body.length > maxMessageBytes)
    throw new A2AError("payload-too-large", `A message may have at most ${maxMessageBytes} bytes.`);
}
