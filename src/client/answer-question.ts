import { answerMetadata, inputRequestsOf, inputSchemaOf, namedRequests } from "../protocol/input-request.ts";
import type { JsonObject, JsonValue } from "../protocol/json.ts";
import { type DataPart, type Part, textOf } from "../protocol/part.ts";
import type { Task } from "../protocol/task.ts";
import { type ToolUse, toolFailure, toolResultPart, toolUseOf } from "../protocol/tool-part.ts";
import type { MessageInput, Question, SendOptions } from "./api.ts";
import { messageOf } from "./message-input.ts";

type Answerers = Pick<SendOptions, "tools" | "onInput">;

/** Whether the caller has tools or answers questions. */
export function canAnswer({ tools, onInput }: Answerers): boolean {
  return onInput !== undefined || Object.keys(tools ?? {}).length > 0;
}

/**
 * The reply to a task that waits for input: the results of the tools that it calls, if at least one of them exists, else the answer of
 * `onInput`. `undefined` leaves the question open.
 */
export async function answerQuestion(
  task: Task,
  answerers: Answerers,
  signal: AbortSignal,
): Promise<MessageInput | undefined> {
  const { tools = {}, onInput } = answerers;
  const uses = (task.status.message?.parts ?? []).flatMap((part) => toolUseOf(part) ?? []);
  if (!uses.some(({ name }) => Object.hasOwn(tools, name))) {
    const question = questionOf(task);
    const input = await onInput?.(question);
    return input === undefined || question.requestId === undefined ? input : naming(question.requestId, input);
  }
  return Promise.all(uses.map((use) => resultPart(use, { task, tools, signal })));
}

/** The question of a task. If several are open, the first: each answer names one question. */
export function questionOf(task: Task): Question {
  const { parts = [], metadata } = task.status.message ?? {};
  const requests = inputRequestsOf(task.status.message);
  const request = requests.find(({ kind }) => kind === "input-request");
  const requestId =
    request === undefined ? {} : { requestId: request.requestId, ...schemaOf(parts, request.requestId) };
  if (requests.length > 1 && request !== undefined)
    return { text: request.prompt, task, sensitive: request.sensitive === true, ...requestId };
  const listed = metadata?.["inputRequest"];
  const isMarked =
    typeof listed === "object" &&
    listed !== null &&
    !Array.isArray(listed) &&
    (listed as JsonObject)["sensitive"] === true;
  return { text: textOf(parts), task, sensitive: metadata?.["sensitive"] === true || isMarked, ...requestId };
}

/** The schema of a question. A relayed question keeps the request id of the agent that asked, so a single schema needs no id. */
function schemaOf(parts: readonly Part[], requestId: string): Pick<Question, "schema"> {
  const schemas = parts.flatMap((part) => inputSchemaOf(part) ?? []);
  const found =
    schemas.find((candidate) => candidate.requestId === requestId) ?? (schemas.length === 1 ? schemas[0] : undefined);
  return found === undefined ? {} : { schema: found.schema };
}

/** The answer, with the question's id in its metadata unless it names a question itself. */
function naming(requestId: string, input: MessageInput): MessageInput {
  const message = messageOf(input);
  if (namedRequests(message).length > 0) return input;
  return { ...message, metadata: { ...message.metadata, ...answerMetadata(requestId) } };
}

/** What one call of a tool needs besides the call itself. */
interface ToolRun {
  readonly task: Task;
  readonly tools: NonNullable<Answerers["tools"]>;
  readonly signal: AbortSignal;
}

/** Runs a tool. A failure becomes a result too: the agent decides what to do about it. */
async function resultPart(use: ToolUse, { task, tools, signal }: ToolRun): Promise<DataPart> {
  const { toolUseId, name, input } = use;
  const tool = Object.hasOwn(tools, name) ? tools[name] : undefined;
  if (tool === undefined) return failed(toolUseId, `The tool ${JSON.stringify(name)} does not exist.`);
  try {
    const result: unknown = await tool(input, { toolUseId, task, signal });
    return toolResultPart({ toolUseId, result: jsonOf(result) });
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    return failed(toolUseId, thrown instanceof Error ? thrown.message : String(thrown));
  }
}

function failed(toolUseId: string, message: string): DataPart {
  return toolResultPart({ toolUseId, result: toolFailure(message) });
}

/** What the agent receives: a value that JSON cannot represent becomes `null`, a `Date` a text. */
function jsonOf(result: unknown): JsonValue {
  const text: string | undefined = JSON.stringify(result);
  // Safe: `JSON.parse` returns a JSON value.
  return text === undefined ? null : (JSON.parse(text) as JsonValue);
}
