import {
  type Agent,
  type AgentDefinition,
  agent,
  type StepOptions,
  type TaskContext,
} from "../../engine/agent/agent.ts";
import { jsonSchemaOf } from "../../engine/agent/json-schema.ts";
import { TaskFailure } from "../../engine/agent/task-failure.ts";
import type { JsonValue } from "../../protocol/json.ts";
import { callModel, type ModelReply, type RequestedCall } from "./call-model.ts";
import type { AssistantContent, Model, ModelMessage, ModelTool, ToolContent } from "./model-contract.ts";
import { currentMessage, type HistoryOptions, historyMessages } from "./prompt.ts";
import { type KeyedCall, runTool, type ToolOutcome } from "./run-tool.ts";
import type { Tool, ToolProvider, Tools } from "./tool.ts";

/** Functions that are called around model and tool calls. They are called again in a replay, so they must have no effect of their own. */
export interface ModelHooks {
  /** May return other messages for this call. */
  beforeModel?(messages: readonly ModelMessage[], task: TaskContext): readonly ModelMessage[] | undefined;
  afterModel?(reply: ModelReply, task: TaskContext): void;
  beforeTool?(call: KeyedCall, task: TaskContext): void;
  afterTool?(call: KeyedCall, outcome: ToolOutcome, task: TaskContext): void;
}

/** An agent whose work is done by a language model. */
export interface ModelAgentOptions extends Omit<AgentDefinition, "run" | "reply" | "skills" | "route"> {
  /** A model of any AI SDK provider; or several: the next one is called if one does not answer. */
  readonly model: Model | readonly Model[];
  /** The system prompt, or a function that returns it for a task. */
  readonly instructions?: string | ((task: TaskContext) => string);
  /** Tools by name; or a function that returns the tools for a task. Default: none. */
  readonly tools?: Tools | ToolProvider;
  readonly history?: HistoryOptions;
  /** Model calls of one turn. After them the task fails with `too-many-model-calls`. Default 20. */
  readonly maxModelCalls?: number;
  /** Tool calls in one answer of the model; the others are refused. Default 16. */
  readonly maxToolCalls?: number;
  /** How often a model call is repeated after a failure, with growing pauses. Default 3. */
  readonly retries?: number;
  /** Milliseconds without any part of the answer after which a model call has failed. Default 60000. */
  readonly stallTimeout?: number;
  /** Characters of one answer of the model. Above it the task fails with `model-output-too-large`. Default 200000. */
  readonly maxOutput?: number;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly hooks?: ModelHooks;
}

const DEFAULTS = { maxModelCalls: 20, maxToolCalls: 16, retries: 3, stallTimeout: 60_000, maxOutput: 200_000 };
/** Written between the texts of two model calls. */
const SEPARATOR = "\n\n";

/**
 * Declares an agent that answers with a language model. Each model call and each tool call is a step: after a crash, those that are stored are not
 * made again. Throws a `TypeError` for an invalid declaration.
 */
export function modelAgent(options: ModelAgentOptions): Agent {
  const { model, instructions, tools, history, hooks, temperature, maxOutputTokens, ...definition } = options;
  const { maxModelCalls, maxToolCalls, retries, stallTimeout, maxOutput, ...identity } = { ...DEFAULTS, ...definition };
  const models: readonly Model[] = Array.isArray(model) ? model : [model];
  if (models.length === 0 || models.some((one) => typeof one?.doStream !== "function"))
    throw new TypeError("modelAgent(): `model` must be a model of an AI SDK provider, or a list of them.");
  return agent({ ...identity, run: (task) => converse(task) });

  async function converse(task: TaskContext): Promise<void> {
    const available = new Map(Object.entries(typeof tools === "function" ? await tools(task) : (tools ?? {})));
    const system = typeof instructions === "function" ? instructions(task) : instructions;
    const messages: ModelMessage[] = [
      ...(system === undefined ? [] : [{ role: "system" as const, content: system }]),
      ...(await historyMessages(task, history ?? {})),
      currentMessage(task),
    ];
    let written = "";
    for (let turn = 1; turn <= maxModelCalls; turn++) {
      const prompt = hooks?.beforeModel?.(messages, task) ?? messages;
      const reply = await task.step(
        "model",
        (step) =>
          callModel(
            { task, step, before: written },
            {
              prompt: [...prompt],
              ...(available.size > 0 && { tools: Array.from(available, modelTool) }),
              ...(temperature !== undefined && { temperature }),
              ...(maxOutputTokens !== undefined && { maxOutputTokens }),
            },
            { models, retries, stallTimeout, maxOutput },
          ),
        observedModel(models),
      );
      await task.usage({ ...reply.usage, modelCalls: 1, toolCalls: reply.calls.length });
      hooks?.afterModel?.(reply, task);
      if (reply.calls.length === 0) return;
      written += reply.text;
      if (reply.text !== "") {
        written += SEPARATOR;
        await task.write(SEPARATOR);
      }
      const calls = reply.calls.map((call, index) => keyed(call, { turn, index }));
      const outcomes = await Promise.all(
        calls.map(async (call, index): Promise<ToolOutcome> => {
          if (index >= maxToolCalls) return { error: `Only ${maxToolCalls} tool calls are allowed at a time.` };
          hooks?.beforeTool?.(call, task);
          const outcome = await runTool(task, call, available);
          hooks?.afterTool?.(call, outcome, task);
          return outcome;
        }),
      );
      messages.push(
        { role: "assistant", content: assistantContent(reply, calls) },
        { role: "tool", content: calls.map((call, index) => toolContent(call, outcomes[index])) },
      );
    }
    throw new TaskFailure(`The model was called ${maxModelCalls} times without a final answer.`, {
      code: "too-many-model-calls",
    });
  }
}

/** Ids of models may repeat, be empty or be very long, so the place of the call is the key. It is also the id that the model gets back. */
function keyed(
  { id, name, input }: RequestedCall,
  { turn, index }: { readonly turn: number; readonly index: number },
): KeyedCall {
  return { key: `${turn}.${index + 1}${id === "" ? "" : `-${id.slice(0, 64)}`}`, name: name.slice(0, 256), input };
}

/** How a model call is shown in traces. */
function observedModel([first]: readonly Model[]): StepOptions<ModelReply> {
  return {
    call: { kind: "model", name: first?.modelId ?? "", ...(first !== undefined && { provider: first.provider }) },
    describe: ({ usage, model, finishReason }) => ({
      ...usage,
      model,
      ...(finishReason !== undefined && { finishReason }),
    }),
  };
}

function modelTool([name, { description, input, jsonSchema }]: readonly [string, Tool]): ModelTool {
  const inputSchema = jsonSchemaOf(input, jsonSchema) ?? { type: "object" };
  return { type: "function", name, description, inputSchema };
}

function assistantContent({ text }: ModelReply, calls: readonly KeyedCall[]): AssistantContent[] {
  return [
    ...(text === "" ? [] : [{ type: "text" as const, text }]),
    ...calls.map(({ key, name, input }) => ({
      type: "tool-call" as const,
      toolCallId: key,
      toolName: name,
      input: inputOf(input),
    })),
  ];
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
