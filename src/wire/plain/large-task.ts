import { type ArtifactPiece, PLACEHOLDER_MESSAGE, PLACEHOLDER_TEXT } from "../../protocol/large-members.ts";
import type { Part } from "../../protocol/part.ts";
import { readMessage, readStatus, type StoredTask } from "../../protocol/serial.ts";
import type { LargeTaskFormat } from "../codec.ts";
import { messageObject } from "./message.ts";
import { partText } from "./part.ts";

/** The plain dialect writes all artifacts as the text of one message, so each piece is a part of a JSON string. */
export function largeTask(task: StoredTask): LargeTaskFormat {
  const status = readStatus(task.status).message?.messageId;
  return {
    artifactsPlaceholder: PLACEHOLDER_TEXT,
    artifacts: artifactTexts,
    historyPlaceholder: messageText(PLACEHOLDER_MESSAGE),
    // The status message is written separately, after the history.
    message: (stored) => (readMessage(stored).messageId === status ? undefined : messageText(stored)),
  };
}

/** A stored message as the plain dialect writes it. */
function messageText(stored: string): string {
  return JSON.stringify(messageObject(readMessage(stored)));
}

/** The same text as in `task.ts`: consecutive text parts are joined, every other part gets a line of its own. */
async function* artifactTexts(pieces: AsyncIterable<ArtifactPiece>): AsyncGenerator<string> {
  let before: "nothing" | "artifact" | "text" | "line" = "nothing";
  for await (const piece of pieces) {
    if (piece.kind === "end" && before !== "nothing") before = "artifact";
    if (piece.kind === "text" && piece.json !== "") {
      if (before === "artifact") yield "\\n\\n";
      else if (before === "line") yield "\\n";
      yield piece.json;
      before = "text";
    }
    if (piece.kind !== "parts") continue;
    let text = "";
    // Safe: this program wrote the stored text.
    for (const part of JSON.parse(`[${piece.parts}]`) as readonly Part[]) {
      const isText = part.text !== undefined;
      const words = partText(part);
      if (words === "") {
        if (!isText && before === "text") before = "line";
        continue;
      }
      if (before === "artifact") text += "\n\n";
      else if (before === "line" || (before === "text" && !isText)) text += "\n";
      text += words;
      before = isText ? "text" : "line";
    }
    yield JSON.stringify(text).slice(1, -1);
  }
}
