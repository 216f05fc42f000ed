import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { type DataPart, textOf } from "../protocol/part.ts";
import type { Task } from "../protocol/task.ts";
import { type ToolUse, toolResultPart, toolUseOf } from "../protocol/tool-part.ts";
import type { Question, Said, SendOptions } from "./api.ts";

type Answerers = Pick<SendOptions, "tools" | "onInput">;

/** Whether somebody is there who answers. */
export function canAnswer({ tools, onInput }: Answerers): boolean {
  return onInput !== undefined || Object.keys(tools ?? {}).length > 0;
}

/**
 * What is to be said to a task that waits for its caller: what its tools gave, where it asks for tools that there are, else what
 * somebody answers. `undefined` leaves it waiting.
 */
export async function answerQuestion(task: Task, answerers: Answerers, signal: AbortSignal): Promise<Said | undefined> {
  const { tools = {}, onInput } = answerers;
  const uses = (task.status.message?.parts ?? []).flatMap((part) => toolUseOf(part) ?? []);
  if (!uses.some(({ name }) => Object.hasOwn(tools, name))) return onInput?.(questionOf(task));
  return Promise.all(uses.map((use) => resultPart(use, { task, tools, signal })));
}

function questionOf(task: Task): Question {
  const { parts = [], metadata } = task.status.message ?? {};
  const request = metadata?.["inputRequest"];
  const sensitive =
    metadata?.["sensitive"] === true ||
    (typeof request === "object" &&
      request !== null &&
      !Array.isArray(request) &&
      (request as JsonObject)["sensitive"] === true);
  return { text: textOf(parts), task, sensitive };
}

interface ToolRun {
  readonly task: Task;
  readonly tools: NonNullable<Answerers["tools"]>;
  readonly signal: AbortSignal;
}

/** A tool that fails has a result too: the agent is to decide what to make of it. */
async function resultPart(use: ToolUse, { task, tools, signal }: ToolRun): Promise<DataPart> {
  const { toolUseId, name, input } = use;
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) return failed(toolUseId, `There is no tool ${JSON.stringify(name)}.`);
  try {
    const result: unknown = await tool(input, { toolUseId, task, signal });
    return toolResultPart({ toolUseId, result: jsonOf(result) });
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    return failed(toolUseId, thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function failed(toolUseId: string, message: string): DataPart {
  return toolResultPart({ toolUseId, result: { isError: true, message } });
}

function jsonOf(result: unknown): JsonValue {
  const text: string | undefined = JSON.stringify(result);
  // Safe: what JSON gives is JSON.
  return text === undefined ? null : (JSON.parse(text) as JsonValue);
}
