import type { FrameworkAnswer, FrameworkEvent } from "../frameworks/framework.ts";
import { jsonOf } from "../models/run-tool.ts";
import type { AiSdkPart, AiSdkToolContent } from "./ai-sdk-agent.ts";

/** The content by which the SDK gets an answer of the caller. */
export function answerContent(answer: FrameworkAnswer): readonly AiSdkToolContent[] {
  if (answer.kind === "approval") {
    const { approved, reason } = answer.decision;
    return [
      {
        type: "tool-approval-response",
        approvalId: answer.key,
        approved,
        ...(reason !== undefined && { reason }),
      },
    ];
  }
  if (answer.kind !== "tool") return [];
  const { key: toolCallId, name: toolName, output = null, error } = answer;
  return [
    {
      type: "tool-result",
      toolCallId,
      toolName,
      output: error === undefined ? { type: "json", value: output } : { type: "error-text", value: error },
    },
  ];
}

/** The content of a part that ends a tool call. */
export function resultContent(part: AiSdkPart): AiSdkToolContent {
  const { toolCallId = "", toolName = "" } = part;
  const result = { type: "tool-result" as const, toolCallId, toolName };
  if (part.type === "tool-output-denied") return { ...result, output: { type: "execution-denied" } };
  if (part.type === "tool-error") return { ...result, output: { type: "error-text", value: textOfError(part.error) } };
  return { ...result, output: { type: "json", value: jsonOf(part.output) } };
}

/** The event of a part that begins or ends a tool call. */
export function toolEvent(part: AiSdkPart): FrameworkEvent | undefined {
  const { type, toolCallId: id = "", toolName: name = "", input, output, error } = part;
  if (type === "tool-call") return { kind: "tool-call", id, name, input: jsonOf(input) };
  if (type === "tool-result" && part.preliminary !== true) return { kind: "tool-result", id, output: jsonOf(output) };
  if (type === "tool-error") return { kind: "tool-failure", id, error: textOfError(error) };
  if (type === "tool-output-denied") return { kind: "tool-failure", id, error: "The caller declined this call." };
  return undefined;
}

function textOfError(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
