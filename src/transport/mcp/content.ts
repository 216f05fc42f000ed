import { type Artifact, isReasoning } from "../../protocol/artifact.ts";
import { isJsonObject, type JsonObject } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { Task } from "../../protocol/task.ts";
import type { ContentBlock, ToolResult } from "./contract.ts";

/** The result of a tool for a task that has ended. Only `completed` is no error. */
export function resultOfTask(task: Task): ToolResult {
  const { status, artifacts = [] } = task;
  const shown = artifacts.filter((artifact) => !isReasoning(artifact));
  const content = [
    ...shown.flatMap(({ parts, artifactId }) =>
      parts.flatMap((part, index) => blockOf(part, `${artifactId}/${index}`)),
    ),
    ...(status.message?.parts ?? []).flatMap((part, index) => blockOf(part, `status/${index}`)),
  ];
  const structured = structuredContent(shown);
  const isError = status.state !== "completed";
  return {
    content: content.length > 0 ? content : [textBlock(isError ? `The task is ${status.state}.` : "Done.")],
    ...(structured !== undefined && { structuredContent: structured }),
    ...(isError && { isError }),
    _meta: { "a2a/taskId": task.id, ...(task.contextId !== "" && { "a2a/contextId": task.contextId }) },
  };
}

/** The result of a tool for an agent that answered without a task. */
export function resultOfMessage({ parts, contextId }: Message): ToolResult {
  const structured = structuredContent([{ parts }]);
  return {
    content: parts.flatMap((part, index) => blockOf(part, `message/${index}`)),
    ...(structured !== undefined && { structuredContent: structured }),
    ...(contextId !== undefined && { _meta: { "a2a/contextId": contextId } }),
  };
}

/** A result that tells a model what went wrong. */
export function errorResult(text: string): ToolResult {
  return { content: [textBlock(text)], isError: true };
}

export function textBlock(text: string): ContentBlock {
  return { type: "text", text };
}

/** The data of the only data part, if it is an object; else all data with the names of their artifacts. */
function structuredContent(artifacts: readonly Pick<Artifact, "parts" | "name">[]): JsonObject | undefined {
  const found = artifacts.flatMap(({ name, parts }) =>
    parts.flatMap(({ data }) => (data === undefined ? [] : [{ ...(name !== undefined && { name }), data }])),
  );
  const [only] = found;
  if (only === undefined) return undefined;
  return found.length === 1 && isJsonObject(only.data) ? only.data : { artifacts: found };
}

const TEXT = "text/plain";

function blockOf(part: Part, place: string): readonly ContentBlock[] {
  const { mediaType, filename } = part;
  const uri = `a2a:${encodeURI(filename ?? place)}`;
  const typed = mediaType === undefined ? {} : { mimeType: mediaType };
  if (part.text !== undefined) {
    const isPlain = filename === undefined && (mediaType === undefined || mediaType.startsWith(TEXT));
    if (isPlain) return part.text === "" ? [] : [textBlock(part.text)];
    return [{ type: "resource", resource: { uri, ...typed, text: part.text } }];
  }
  if (part.raw !== undefined) {
    const [kind] = (mediaType ?? "").split("/");
    if (mediaType !== undefined && (kind === "image" || kind === "audio"))
      return [{ type: kind, data: part.raw, mimeType: mediaType }];
    return [{ type: "resource", resource: { uri, ...typed, blob: part.raw } }];
  }
  if (part.url !== undefined) return [{ type: "resource_link", uri: part.url, name: filename ?? part.url, ...typed }];
  return [textBlock(JSON.stringify(part.data))];
}
