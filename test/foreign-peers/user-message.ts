import { randomUUID } from "node:crypto";
import type { Json } from "./json.ts";
import type { FileContent, Turn } from "./peer.ts";

/** A message of 0.2 or 0.3 with the members that all libraries write. */
export function userMessage({ text, file }: Pick<Turn, "text" | "file">, more: object = {}): Json {
  const parts = [{ kind: "text", text }, ...(file === undefined ? [] : [filePart(file)])];
  return { kind: "message", messageId: randomUUID(), role: "user", parts, ...more };
}

function filePart({ name, mediaType, base64 }: FileContent): object {
  return { kind: "file", file: { bytes: base64, mimeType: mediaType, name } };
}
