import type { StepOptions, TaskContext } from "../../engine/agent/agent.ts";
import { jsonSchemaOf } from "../../engine/agent/json-schema.ts";
import { TaskFailure } from "../../engine/agent/task-failure.ts";
import { type CallOptions, callModel, type ModelReply } from "./call-model.ts";
import { assistantMessage, keyed, toolMessage } from "./messages.ts";
import type { Model, ModelCall, ModelMessage, ModelTool } from "./model-contract.ts";
import { costOf, type Price } from "./price.ts";
import { currentMessage, type HistoryOptions, historyMessages } from "./prompt.ts";
import { ReplyWriter } from "./reply-writer.ts";
import { type KeyedCall, runTool, type ToolOutcome } from "./run-tool.ts";
import {
  checkOutput,
  type OutputForm,
  outputInstructions,
  repairRequest,
  responseFormat,
} from "./structured-output.ts";
import type { Tool, ToolProvider, Tools } from "./tool.ts";
import { collectTools } from "./tool-provider.ts";

/** Functions that are called around model and tool calls. They are called again in a replay, so they must have no effect of their own. */
export interface ModelHooks {
  /** May return other messages for this call. */
  beforeModel?(messages: readonly ModelMessage[], task: TaskContext): readonly ModelMessage[] | undefined;
  afterModel?(reply: ModelReply, task: TaskContext): void;
  beforeTool?(call: KeyedCall, task: TaskContext): void;
  afterTool?(call: KeyedCall, outcome: ToolOutcome, task: TaskContext): void;
}

/** An answer of the model whose tool calls have ended. */
export interface EndedTurn {
  readonly reply: ModelReply;
  /** How often the model was called in this turn of the task. */
  readonly modelCalls: number;
}

/** How the loop of model and tool calls works, with all defaults filled in. */
export interface LoopOptions extends CallOptions {
  readonly instructions: string | ((task: TaskContext) => string) | undefined;
  readonly tools: readonly (Tools | ToolProvider)[];
  readonly history: HistoryOptions;
  readonly hooks: ModelHooks;
  readonly output: OutputForm | undefined;
  readonly maxRepairs: number;
  readonly showReasoning: boolean;
  readonly price: Price | undefined;
  readonly maxModelCalls: number;
  readonly maxToolCalls: number;
  readonly stopWhen: ((turn: EndedTurn) => boolean) | undefined;
  readonly settings: Pick<ModelCall, "temperature" | "maxOutputTokens">;
}

/** Written between the texts of two model calls. */
const SEPARATOR = "\n\n";

/** Calls the model until it answers without a tool call. Each model call and each tool call is a step. */
export async function runLoop(task: TaskContext, options: LoopOptions): Promise<void> {
  const { hooks, output, maxModelCalls, price, settings } = options;
  const tools = await collectTools(options.tools, task);
  const messages = await firstMessages(task, options);
  const call = {
    ...(tools.size > 0 && { tools: Array.from(tools, modelTool) }),
    ...(output !== undefined && { responseFormat: responseFormat(output) }),
    ...settings,
  };
  const before = { text: "", reasoning: "" };
  let repairs = 0;
  for (let turn = 1; turn <= maxModelCalls; turn++) {
    const prompt = hooks.beforeModel?.(messages, task) ?? messages;
    const visible = { text: output === undefined, reasoning: options.showReasoning };
    const reply = await task.step(
      "model",
      (step) =>
        callModel(
          { task, step, output: new ReplyWriter({ task, call: turn, before: { ...before } }, visible) },
          { prompt: [...prompt], ...call },
          options,
        ),
      observedModel(options.models),
    );
    const cost = price === undefined ? {} : { cost: costOf(price, reply.usage, reply.model) };
    await task.usage({ ...reply.usage, ...cost, modelCalls: 1, toolCalls: reply.calls.length });
    hooks.afterModel?.(reply, task);
    if (reply.calls.length > 0) {
      if (visible.text) before.text += await separated(task, "result", reply.text);
      if (visible.reasoning) before.reasoning += await separated(task, "reasoning", reasoningText(reply));
      messages.push(...(await answeredCalls({ task, turn, tools }, reply, options)));
      if (options.stopWhen?.({ reply, modelCalls: turn }) === true) return;
      continue;
    }
    if (output === undefined) return;
    const checked = await checkOutput(output, reply.text);
    if (checked.ok) return task.write({ data: checked.value });
    if (repairs++ >= options.maxRepairs)
      throw new TaskFailure(`The model's answer does not have the requested form: ${checked.problem}`, {
        code: "model-output-invalid",
      });
    messages.push(assistantMessage(reply, []), {
      role: "user",
      content: [{ type: "text", text: repairRequest(checked.problem) }],
    });
  }
  throw new TaskFailure(`The model was called ${maxModelCalls} times without a final answer.`, {
    code: "too-many-model-calls",
  });
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

async function firstMessages(task: TaskContext, options: LoopOptions): Promise<ModelMessage[]> {
  const { instructions, output, history } = options;
  const system = [
    typeof instructions === "function" ? instructions(task) : instructions,
    output === undefined ? undefined : outputInstructions(output),
  ].filter((text) => text !== undefined);
  return [
    ...(system.length === 0 ? [] : [{ role: "system" as const, content: system.join(SEPARATOR) }]),
    ...(await historyMessages(task, history)),
    currentMessage(task),
  ];
}

interface Turn {
  readonly task: TaskContext;
  readonly turn: number;
  readonly tools: ReadonlyMap<string, Tool>;
}

/** Runs the tool calls of one answer, all at the same time. Returns the answer and their outcomes for the next model call. */
async function answeredCalls(
  { task, turn, tools }: Turn,
  reply: ModelReply,
  { hooks, maxToolCalls }: LoopOptions,
): Promise<readonly ModelMessage[]> {
  const calls = reply.calls.map((call, index) => keyed(call, { turn, index }));
  const outcomes = await Promise.all(
    calls.map(async (call, index): Promise<ToolOutcome> => {
      if (index >= maxToolCalls) return { error: `Only ${maxToolCalls} tool calls are allowed at a time.` };
      hooks.beforeTool?.(call, task);
      const outcome = await runTool(task, call, tools);
      hooks.afterTool?.(call, outcome, task);
      return outcome;
    }),
  );
  return [assistantMessage(reply, calls), toolMessage(calls, outcomes)];
}

/** Writes a separator after a text, unless it is empty. Returns both. */
async function separated(task: TaskContext, artifact: string, text: string): Promise<string> {
  if (text === "") return "";
  await task.artifact(artifact).write(SEPARATOR);
  return text + SEPARATOR;
}

function reasoningText({ reasoning }: ModelReply): string {
  return reasoning.map(({ text }) => text).join("");
}

function modelTool([name, { description, input, jsonSchema }]: readonly [string, Tool]): ModelTool {
  const inputSchema = jsonSchemaOf(input, jsonSchema) ?? { type: "object" };
  return { type: "function", name, description, inputSchema };
}
