import { A2AError } from "../../protocol/error.ts";

/** The most characters of JSON that become one message: encoding needs several times the memory. */
const MAX_TEXT = 32 * 1024 * 1024;

/** Joins the pieces of an answer. A gRPC message cannot be sent in pieces. Throws `resource-exhausted` above 32 Mi characters. */
export async function wholeText(pieces: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const piece of pieces) {
    text += piece;
    if (text.length > MAX_TEXT) {
      throw new A2AError(
        "resource-exhausted",
        "The answer is too large for one gRPC message: use JSON-RPC or REST, or ask for less history",
      );
    }
  }
  return text;
}
