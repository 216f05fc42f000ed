import type { StandardSchemaV1 } from "@standard-schema/spec";
import {
  type Agent,
  type AgentDefinition,
  agent,
  type JsonSchemaSource,
  type Skill,
  type TaskContext,
} from "../../engine/agent/agent.ts";
import { modelByName } from "./model-by-name.ts";
import type { Model } from "./model-contract.ts";
import { type EndedTurn, type LoopOptions, type ModelHooks, runLoop } from "./model-loop.ts";
import type { Price } from "./price.ts";
import type { HistoryOptions } from "./prompt.ts";
import { outputForm } from "./structured-output.ts";
import type { ToolProvider, Tools } from "./tool.ts";

/** An agent whose work is done by a language model. */
export interface ModelAgentOptions extends Omit<AgentDefinition, "run" | "reply" | "skills" | "route"> {
  /** For the card. The model handles all of them. Default: one skill with the name and the description of the agent. */
  readonly skills?: readonly Omit<Skill, "run" | "input" | "jsonSchema">[];
  /**
   * A model of any AI SDK provider, or the name of a model behind an OpenAI-compatible endpoint (`provider/model`); or several: the next one is called if one
   * does not answer.
   */
  readonly model: Model | string | readonly (Model | string)[];
  /** The system prompt, or a function that returns it for a task. */
  readonly instructions?: string | ((task: TaskContext) => string);
  /** Tools by name, a provider of tools (such as a function of the task), or a list of both. Default: none. */
  readonly tools?: Tools | ToolProvider | readonly (Tools | ToolProvider)[];
  readonly history?: HistoryOptions;
  /**
   * The form of the final answer. The model is asked for JSON, the answer is validated, and the result is a data part with the output of the schema. An invalid
   * answer goes back to the model with its problems.
   */
  readonly output?: StandardSchemaV1;
  /** The JSON Schema of `output`, if its library does not support Standard JSON Schema. */
  readonly outputJsonSchema?: JsonSchemaSource;
  /** How often the model may correct an answer that does not match `output`. Then the task fails with `model-output-invalid`. Default 2. */
  readonly maxRepairs?: number;
  /** Whether callers see the model's reasoning: it streams into the artifact `reasoning`. Default false. */
  readonly showReasoning?: boolean;
  /** Adds `cost` to the usage of the task. */
  readonly price?: Price;
  /** Model calls of one turn. After them the task fails with `too-many-model-calls`. Default 20. */
  readonly maxModelCalls?: number;
  /**
   * Called after the tools of an answer have run. True: the task is completed with what was written so far, without another model call. It is called again in a
   * replay, so it must depend on its argument alone.
   */
  readonly stopWhen?: (turn: EndedTurn) => boolean;
  /** Tool calls in one answer of the model; the others are refused. Default 16. */
  readonly maxToolCalls?: number;
  /** How often a model call is repeated after a failure, with growing pauses. Default 3. */
  readonly retries?: number;
  /** Milliseconds without any part of the answer after which a model call has failed. Default 60000. */
  readonly stallTimeout?: number;
  /** Characters of one answer of the model, plus one for each piece of the stream. Above it the task fails with `model-output-too-large`. Default 200000. */
  readonly maxOutput?: number;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly hooks?: ModelHooks;
}

/**
 * Declares an agent that answers with a language model. Each model call and each tool call is a step: after a crash, those that are stored are not
 * made again. Throws a `TypeError` for an invalid declaration.
 */
export function modelAgent(options: ModelAgentOptions): Agent {
  const { model, instructions, tools = [], history = {}, hooks = {}, temperature, maxOutputTokens, ...rest } = options;
  const { output, outputJsonSchema, maxRepairs = 2, showReasoning = false, price, ...more } = rest;
  const {
    maxModelCalls = 20,
    maxToolCalls = 16,
    stopWhen,
    retries = 3,
    stallTimeout = 60_000,
    maxOutput = 200_000,
    ...identity
  } = more;
  const loop: LoopOptions = {
    models: modelsOf(model),
    ...{ instructions, history, hooks, maxRepairs, showReasoning, price },
    ...{ maxModelCalls, maxToolCalls, stopWhen, retries, stallTimeout, maxOutput },
    tools: isList(tools) ? tools : [tools],
    output: outputForm(output, outputJsonSchema),
    settings: {
      ...(temperature !== undefined && { temperature }),
      ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    },
  };
  return agent({ ...identity, run: (task) => runLoop(task, loop) });
}

function modelsOf(declared: ModelAgentOptions["model"]): readonly Model[] {
  const list = isList(declared) ? declared : [declared];
  const models = list.map((one) => (typeof one === "string" ? modelByName(one) : one));
  if (models.length === 0 || models.some((one) => typeof one?.doStream !== "function"))
    throw new TypeError(
      "modelAgent(): `model` must be a model of an AI SDK provider, a name such as ollama/llama3.2, or a list of them.",
    );
  return models;
}

function isList<T>(value: T | readonly T[]): value is readonly T[] {
  return Array.isArray(value);
}
