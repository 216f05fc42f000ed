import type { StandardSchemaV1 } from "@standard-schema/spec";
import { type StepContext, TaskAborted, type TaskContext } from "../../engine/agent/agent.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { toolFailureOf } from "../../protocol/tool-part.ts";
import { callOnce } from "../steps/call-once.ts";
import type { Tool } from "./tool.ts";
import { untilAborted } from "./until-aborted.ts";

/** A tool call of the model, with the key under which it is stored and reported. */
export interface KeyedCall {
  readonly key: string;
  readonly name: string;
  /** JSON text as the model wrote it. */
  readonly input: string;
}

/** The outcome of a tool call. Both kinds go to the model. */
export type ToolOutcome =
  | { readonly output: JsonValue; readonly error?: never }
  | { readonly error: string; readonly output?: never };

const DEFAULT_TIMEOUT = 60_000;
const MAX_SHOWN = 500;
/** Characters of JSON. */
const MAX_RESULT = 200_000;
const CUT_OFF =
  "The server stopped while this tool ran. It is not known whether it had its effect, and it was not run again. Check before you repeat it.";

/**
 * Runs one tool call: checks its input, asks for approval, runs it as one step and reports it. Everything that is wrong with the call is an outcome
 * for the model; it throws only if the task must stop.
 */
export async function runTool(
  task: TaskContext,
  call: KeyedCall,
  tools: ReadonlyMap<string, Tool>,
): Promise<ToolOutcome> {
  const parsed = parsedInput(call.input);
  await task.toolCall({ id: call.key, name: call.name || "(no name)", input: parsed.ok ? parsed.value : call.input });
  const outcome = await outcomeOf(task, call, { parsed, tool: tools.get(call.name), names: [...tools.keys()] });
  await task.toolResult(
    outcome.error === undefined ? { id: call.key, output: outcome.output } : { id: call.key, error: outcome.error },
  );
  return outcome;
}

type Parsed = { readonly ok: true; readonly value: JsonValue } | { readonly ok: false };

interface Chosen {
  readonly parsed: Parsed;
  readonly tool: Tool | undefined;
  readonly names: readonly string[];
}

async function outcomeOf(task: TaskContext, call: KeyedCall, { parsed, tool, names }: Chosen): Promise<ToolOutcome> {
  if (tool === undefined)
    return {
      error: `There is no tool ${JSON.stringify(call.name.slice(0, 100))}. The tools are: ${names.join(", ") || "none"}.`,
    };
  if (!parsed.ok) return { error: "The input is not valid JSON. Call the tool again with valid JSON." };
  const checked = await checkedInput(tool.input, parsed.value);
  if (!checked.ok) return { error: `The input is not valid: ${checked.problem}` };
  const needsApproval = typeof tool.approve === "function" ? tool.approve(parsed.value, task) : tool.approve === true;
  if (needsApproval) {
    const { approved, reason } = await task.ask(approvalText(call.name, parsed.value), {
      name: `approve ${call.key}`,
      schema: APPROVAL,
      jsonSchema: APPROVAL_SCHEMA,
    });
    if (!approved)
      return {
        error: reason === undefined ? "The caller declined this call." : `The caller declined this call: ${reason}`,
      };
  }
  if (tool.execute === undefined) return clientOutcome(task, call, parsed.value);
  return executed(task, call, { tool, input: checked.value });
}

/** Asks the caller to run the tool, and waits for the result. */
async function clientOutcome(task: TaskContext, { key, name }: KeyedCall, input: JsonValue): Promise<ToolOutcome> {
  const output = await task.ask(`Please run the tool ${name} and answer with its result.`, {
    name: `client ${key}`,
    schema: ANYTHING,
    tool: { name, input },
  });
  const error = toolFailureOf(output);
  return error === undefined ? { output } : { error };
}

/** Runs the tool as a step. */
async function executed(
  task: TaskContext,
  { key, name }: KeyedCall,
  { tool, input }: { readonly tool: Tool; readonly input: unknown },
): Promise<ToolOutcome> {
  const work = async (step: StepContext): Promise<ToolOutcome> => {
    const milliseconds = tool.timeout ?? DEFAULT_TIMEOUT;
    const timeout = AbortSignal.timeout(milliseconds);
    const signal = AbortSignal.any([step.signal, timeout]);
    try {
      const result = tool.execute?.(input, { task, key: step.key, signal });
      return outcomeOfResult(await untilAborted(result, signal));
    } catch (error) {
      if (step.signal.aborted) throw step.signal.reason;
      if (error instanceof TaskAborted) throw error;
      if (timeout.aborted) return { error: `The tool did not finish within ${milliseconds} ms.` };
      task.log.warn("A tool failed", { tool: key, error });
      return { error: error instanceof Error ? error.message : String(error) };
    }
  };
  return callOnce<ToolOutcome>(task, {
    key,
    name: `tool ${key}`,
    repeatable: tool.repeatable === true,
    cutOff: () => ({ error: CUT_OFF }),
    work,
    options: { call: { kind: "tool", name, id: key }, describe: (outcome) => ({ failed: "error" in outcome }) },
  });
}

/** The result is stored and goes to the model, so its size is limited. */
function outcomeOfResult(value: unknown): ToolOutcome {
  const text: string | undefined = JSON.stringify(value);
  if (text === undefined) return { output: null };
  if (text.length > MAX_RESULT)
    return {
      error: `The result has ${text.length} characters of JSON; at most ${MAX_RESULT} are allowed. Ask for less.`,
    };
  // Safe cast: `JSON.parse` returns a JSON value.
  return { output: JSON.parse(text) as JsonValue };
}

/** The value as JSON has it; without JSON, such as a function, `null`. */
export function jsonOf(value: unknown): JsonValue {
  const text: string | undefined = JSON.stringify(value);
  // Safe cast: `JSON.parse` returns a JSON value.
  return text === undefined ? null : (JSON.parse(text) as JsonValue);
}

/** No text stands for no input. */
function parsedInput(text: string): Parsed {
  if (text.trim() === "") return { ok: true, value: {} };
  try {
    // Safe cast: `JSON.parse` returns a JSON value.
    return { ok: true, value: JSON.parse(text) as JsonValue };
  } catch {
    return { ok: false };
  }
}

async function checkedInput(
  schema: StandardSchemaV1 | undefined,
  value: JsonValue,
): Promise<{ readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly problem: string }> {
  if (schema === undefined) return { ok: true, value: undefined };
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { ok: true, value: result.value };
  return {
    ok: false,
    problem: result.issues
      .map(({ message }) => message.slice(0, MAX_SHOWN))
      .slice(0, 5)
      .join("; "),
  };
}

export function approvalText(name: string, input: JsonValue): string {
  const text = JSON.stringify(input);
  const shown = text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
  return text === "{}" ? `Run the tool ${name}?` : `Run the tool ${name} with ${shown}?`;
}

export interface Approval {
  readonly approved: boolean;
  readonly reason?: string;
}

export const APPROVAL_SCHEMA: JsonObject = {
  type: "object",
  properties: { approved: { type: "boolean" }, reason: { type: "string" } },
  required: ["approved"],
};

/** `{ approved, reason? }`; also `true`, `false`, and the words yes and no. */
export const APPROVAL: StandardSchemaV1<unknown, Approval> = {
  "~standard": {
    version: 1,
    vendor: "palaver",
    validate(answer) {
      const word = typeof answer === "string" ? answer.trim().toLowerCase() : answer;
      if (word === true || word === "yes" || word === "y") return { value: { approved: true } };
      if (word === false || word === "no" || word === "n") return { value: { approved: false } };
      if (
        typeof answer === "object" &&
        answer !== null &&
        "approved" in answer &&
        typeof answer.approved === "boolean"
      ) {
        const reason = "reason" in answer && typeof answer.reason === "string" ? { reason: answer.reason } : {};
        return { value: { approved: answer.approved, ...reason } };
      }
      return { issues: [{ message: 'Answer yes or no, or { "approved": true }.' }] };
    },
  },
};

export const ANYTHING: StandardSchemaV1<unknown, JsonValue> = {
  // Safe cast: answers are JSON.
  "~standard": { version: 1, vendor: "palaver", validate: (value) => ({ value: value as JsonValue }) },
};
