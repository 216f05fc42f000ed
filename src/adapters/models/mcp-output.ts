import type { JsonValue } from "../../protocol/json.ts";

/** The result of an MCP tool, as far as it is used here. */
export interface McpResult {
  readonly content?: readonly McpBlock[];
  readonly structuredContent?: JsonValue;
  readonly isError?: boolean;
}

interface McpBlock {
  readonly type: string;
  readonly text?: string;
  readonly mimeType?: string;
  readonly uri?: string;
  readonly name?: string;
  readonly resource?: { readonly uri: string; readonly text?: string; readonly mimeType?: string };
}

const MAX_ERROR = 2000;

/** What the model gets of a result: the structured content, else the text, else a list. Files are named, not included. Throws what the tool reports as an error. */
export function mcpOutput({ content = [], structuredContent, isError }: McpResult): JsonValue {
  if (isError === true) throw new Error(textOf(content).slice(0, MAX_ERROR) || "The tool failed without a reason.");
  if (structuredContent !== undefined) return structuredContent;
  return content.every(({ type }) => type === "text") ? textOf(content) : content.map(shown);
}

function textOf(content: readonly McpBlock[]): string {
  return content.flatMap(({ text }) => text ?? []).join("\n");
}

function shown({ type, text, mimeType, uri, name, resource }: McpBlock): JsonValue {
  if (type === "text") return text ?? "";
  if (resource?.text !== undefined) return { type, uri: resource.uri, text: resource.text };
  const address = uri ?? resource?.uri;
  const format = mimeType ?? resource?.mimeType;
  return {
    type,
    ...(name !== undefined && { name }),
    ...(address !== undefined && { uri: address }),
    ...(format !== undefined && { mimeType: format }),
  };
}
