import type { ContentBlock, PromptCapabilities } from "@agentclientprotocol/sdk";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";

/** A message as the content of a prompt. What the ACP agent does not accept is described in words. */
export function promptContent({ parts }: Message, accepts: PromptCapabilities = {}): ContentBlock[] {
  return parts.map((part, index) => blockOf(part, accepts, index));
}

/** The texts of a prompt, for comparison. */
export function promptText(content: readonly ContentBlock[]): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("");
}

function blockOf(part: Part, accepts: PromptCapabilities, index: number): ContentBlock {
  if (part.text !== undefined) return { type: "text", text: part.text };
  if (part.data !== undefined) return { type: "text", text: JSON.stringify(part.data) };
  const { mediaType = "application/octet-stream", filename = `file-${index + 1}` } = part;
  if (part.url !== undefined) return { type: "resource_link", uri: part.url, name: filename, mimeType: mediaType };
  const { raw } = part;
  if (mediaType.startsWith("image/") && accepts.image === true)
    return { type: "image", data: raw, mimeType: mediaType };
  if (mediaType.startsWith("audio/") && accepts.audio === true)
    return { type: "audio", data: raw, mimeType: mediaType };
  const uri = `attachment:///${encodeURIComponent(filename)}`;
  if (accepts.embeddedContext === true) return { type: "resource", resource: { uri, blob: raw, mimeType: mediaType } };
  return { type: "text", text: `[The file ${filename} (${mediaType}) was sent, and cannot be shown here.]` };
}
