import type { JsonValue } from "../../protocol/json.ts";
import type { FrameworkEvent } from "../frameworks/framework.ts";
import { jsonOf } from "../models/run-tool.ts";
import type { OpenAIEvent, OpenAIItem, OpenAIUsage } from "./openai-agent.ts";

/** Translates one event of a streamed run. */
export function* runEvents({ type, data, name, item }: OpenAIEvent): Generator<FrameworkEvent> {
  if (type === "raw_model_stream_event") {
    if (data?.type === "response_started") yield { kind: "message" };
    else if (data?.type === "output_text_delta" && typeof data.delta === "string")
      yield { kind: "text", text: data.delta };
    else if (data?.type === "response_done")
      yield { kind: "usage", usage: { modelCalls: 1, ...usageOf(data.response?.usage ?? {}) } };
  } else if (type === "run_item_stream_event" && item !== undefined) {
    const id = callId(item);
    if (name === "tool_called")
      yield { kind: "tool-call", id, name: item.rawItem?.name ?? item.rawItem?.type ?? "", input: callInput(item) };
    else if (name === "tool_output") yield { kind: "tool-result", id, output: jsonOf(item.output) };
  }
}

export function callId({ rawItem }: OpenAIItem): string {
  return rawItem?.callId ?? rawItem?.id ?? "";
}

/** Text that is no JSON stays text. */
export function callInput({ rawItem }: OpenAIItem): JsonValue {
  const text = rawItem?.arguments ?? "";
  try {
    // Safe cast: `JSON.parse` returns a JSON value.
    return text === "" ? {} : (JSON.parse(text) as JsonValue);
  } catch {
    return text;
  }
}

function usageOf({ inputTokens, outputTokens, inputTokensDetails, outputTokensDetails }: OpenAIUsage) {
  return {
    inputTokens: inputTokens ?? 0,
    outputTokens: outputTokens ?? 0,
    ...detail(inputTokensDetails, "cached_tokens", "cachedInputTokens"),
    ...detail(outputTokensDetails, "reasoning_tokens", "reasoningTokens"),
  };
}

/** The details are objects with the names of the API, or lists of them. */
function detail(details: unknown, from: string, to: string): Readonly<Record<string, number>> {
  let total: number | undefined;
  for (const entry of [details].flat()) {
    if (typeof entry !== "object" || entry === null) continue;
    const value: unknown = Object.entries(entry).find(([name]) => name === from)?.[1];
    if (typeof value === "number") total = (total ?? 0) + value;
  }
  return total === undefined ? {} : { [to]: total };
}
