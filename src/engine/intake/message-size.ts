import { A2AError } from "../../protocol/error.ts";
import type { Message } from "../../protocol/message.ts";
import type { Limits } from "../limits.ts";

/** Throws `payload-too-large` if the message has more than `maxParts` parts. */
export function checkParts({ maxParts }: Limits, { parts }: Message): void {
  if (parts.length > maxParts) throw new A2AError("payload-too-large", `A message may have at most ${maxParts} parts.`);
}

/** Throws `payload-too-large` if the message's stored text has more bytes than `maxMessageBytes`. */
export function checkSize({ maxMessageBytes }: Limits, body: string): void {
  // A character has at most 3 bytes of UTF-8 here, so that most texts need not be measured.
  if (body.length * 3 > maxMessageBytes && Buffer.byteLength(body) > maxMessageBytes)
    throw new A2AError("payload-too-large", `A message may have at most ${maxMessageBytes} bytes.`);
}
