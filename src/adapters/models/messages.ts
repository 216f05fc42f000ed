import type { JsonValue } from "../../protocol/json.ts";
import type { ModelReply } from "./call-model.ts";
import type { AssistantContent, ModelMessage, ToolContent } from "./model-contract.ts";
import type { RequestedCall } from "./read-reply.ts";
import type { KeyedCall, ToolOutcome } from "./run-tool.ts";

/** Ids of models may repeat, be empty or be very long, so the place of the call is the key. It is also the id that the model gets back. */
export function keyed(
  { id, name, input }: RequestedCall,
  { turn, index }: { readonly turn: number; readonly index: number },
): KeyedCall {
  return { key: `${turn}.${index + 1}${id === "" ? "" : `-${id.slice(0, 64)}`}`, name: name.slice(0, 256), input };
}

/** The model's own answer, for its next call. */
export function assistantMessage(reply: ModelReply, calls: readonly KeyedCall[]): ModelMessage {
  const content: AssistantContent[] = reply.reasoning.map((block) => ({ type: "reasoning", ...block }));
  if (reply.text !== "") content.push({ type: "text", text: reply.text });
  for (const [index, { key, name, input }] of calls.entries()) {
    const providerOptions = reply.calls[index]?.providerOptions;
    content.push({
      type: "tool-call",
      toolCallId: key,
      toolName: name,
      input: inputOf(input),
      ...(providerOptions !== undefined && { providerOptions }),
    });
  }
  return { role: "assistant", content };
}

/** The outcomes of the tool calls, in the order of the calls. */
export function toolMessage(calls: readonly KeyedCall[], outcomes: readonly ToolOutcome[]): ModelMessage {
  return { role: "tool", content: calls.map((call, index) => toolContent(call, outcomes[index])) };
}

/** A broken input is shown to the model as text, beside the error. */
function inputOf(text: string): JsonValue {
  try {
    // Safe cast: `JSON.parse` returns a JSON value.
    return text.trim() === "" ? {} : (JSON.parse(text) as JsonValue);
  } catch {
    return { invalid: text.slice(0, 1000) };
  }
}

function toolContent({ key, name }: KeyedCall, outcome: ToolOutcome | undefined): ToolContent {
  return {
    type: "tool-result",
    toolCallId: key,
    toolName: name,
    output:
      outcome?.error === undefined
        ? { type: "json", value: outcome?.output ?? null }
        : { type: "error-text", value: outcome.error },
  };
}
