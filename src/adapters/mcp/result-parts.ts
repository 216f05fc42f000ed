import type { ContentBlock } from "@modelcontextprotocol/client";
import type { JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import { webUrl } from "./web-url.ts";

/** The result of a tool. */
export interface ToolResult {
  readonly content?: readonly ContentBlock[] | undefined;
  readonly structuredContent?: unknown;
  readonly isError?: boolean | undefined;
}

const MAX_ERROR = 2000;

/** The structured content, then the content. A text that only repeats the structured content is left out. */
export function resultParts({ content = [], structuredContent }: ToolResult): readonly Part[] {
  if (structuredContent === undefined) return content.map(blockPart);
  // Safe cast: the client has parsed it from JSON.
  const data = structuredContent as JsonValue;
  const others = content.filter((block) => block.type !== "text" || !isSame(block.text, data));
  return [{ data }, ...others.map(blockPart)];
}

/** The words of a tool that failed. */
export function errorText({ content = [] }: ToolResult): string {
  const text = content.flatMap((block) => (block.type === "text" ? block.text : [])).join("\n");
  return text.slice(0, MAX_ERROR).trim() || "The tool failed without a reason.";
}

export function blockPart(block: ContentBlock): Part {
  switch (block.type) {
    case "text":
      return { text: block.text };
    case "image":
    case "audio":
      return { raw: block.data, mediaType: block.mimeType };
    case "resource":
      return contentPart(block.resource);
    case "resource_link": {
      const { uri, name, mimeType, description } = block;
      const url = webUrl(uri);
      if (url === undefined) return { data: { uri, name, ...(description !== undefined && { description }) } };
      return { url, filename: name, ...(mimeType !== undefined && { mediaType: mimeType }) };
    }
  }
}

/** The content of a resource. */
export function contentPart(resource: {
  readonly uri: string;
  readonly mimeType?: string | undefined;
  readonly text?: string | undefined;
  readonly blob?: string | undefined;
}): Part {
  const { uri, mimeType, text, blob } = resource;
  const filename = fileName(uri);
  const details = {
    ...(mimeType !== undefined && { mediaType: mimeType }),
    ...(filename !== undefined && { filename }),
    metadata: { uri },
  };
  return blob === undefined ? { text: text ?? "", ...details } : { raw: blob, ...details };
}

function fileName(uri: string): string | undefined {
  const name = uri.split(/[?#]/)[0]?.split("/").at(-1);
  return name === undefined || name === "" || name.includes(":") ? undefined : name;
}

function isSame(text: string, data: JsonValue): boolean {
  try {
    return JSON.stringify(JSON.parse(text)) === JSON.stringify(data);
  } catch {
    return false;
  }
}
