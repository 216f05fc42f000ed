import type { ElicitRequestParams, ElicitResult } from "@modelcontextprotocol/client";
import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { TaskContext } from "../../engine/agent/agent.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json.ts";
import { textOf } from "../../protocol/part.ts";
import { checkJson, objectOf } from "../schema/check-json.ts";
import { onlyName, typeOf } from "./arguments-schema.ts";
import { webUrl } from "./web-url.ts";

/** How a question of the server is asked. */
export interface AskForServer {
  /** Identifies the question in a replay. */
  readonly name: string;
  /** For a question by URL: resolves when it was settled elsewhere. */
  readonly until?: (signal: AbortSignal) => Promise<unknown>;
}

/**
 * Passes a question of the server on to the caller, and returns the answer. A form is a question with its schema; a URL is a request for an authorisation. The
 * words `decline` and `cancel` are answers as MCP defines them.
 */
export async function askForServer(
  task: TaskContext,
  question: ElicitRequestParams,
  { name, until }: AskForServer,
): Promise<ElicitResult> {
  if (question.mode === "url") {
    const url = webUrl(question.url);
    if (url === undefined) return { action: "cancel" };
    const message = `${question.message}\n${url}`;
    const answer = await task.requireAuth({
      message,
      description: question.message,
      name,
      ...(until !== undefined && { until }),
    });
    return { action: (answer && refusalIn(textOf(answer.parts))) ?? "accept" };
  }
  // Safe cast: the client has parsed it from JSON.
  const schema = question.requestedSchema as unknown as JsonObject;
  // Safe cast: `answerSchema` checks that the content has the form that the server asked for.
  return (await task.ask(question.message, { name, schema: answerSchema(schema), jsonSchema: schema })) as ElicitResult;
}

interface Answer {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: JsonObject;
}

/** What callers may answer to a form. */
export function answerSchema(schema: JsonObject): StandardSchemaV1<unknown, Answer> {
  return {
    "~standard": {
      version: 1,
      vendor: "palaver",
      validate(given) {
        // Safe cast: an answer is JSON.
        const value = given as JsonValue;
        const refusal = typeof value === "string" ? refusalIn(value) : actionIn(value, schema);
        if (refusal !== undefined) return { value: { action: refusal } };
        const content = typeof value === "string" ? contentOfText(value, schema) : value;
        if (content === undefined) return { value: { action: "decline" } };
        if (!isJsonObject(content))
          return { issues: [{ message: "must be a JSON object with the fields of the form" }] };
        const issues = checkJson(content, schema);
        return issues.length > 0 ? { issues } : { value: { action: "accept", content } };
      },
    },
  };
}

function refusalIn(text: string): "decline" | "cancel" | undefined {
  const word = text.trim().toLowerCase();
  return word === "decline" || word === "cancel" ? word : undefined;
}

/** `{ "action": "decline" }`, unless the form has a field of this name. */
function actionIn(value: JsonValue, schema: JsonObject): "decline" | "cancel" | undefined {
  if (!isJsonObject(value) || Object.hasOwn(objectOf(schema["properties"]), "action")) return undefined;
  const { action } = value;
  return action === "decline" || action === "cancel" ? action : undefined;
}

const YES: readonly string[] = ["yes", "y", "true"];
const NO: readonly string[] = ["no", "n", "false"];

/** What a text means: the value of the only field; for a form without fields, yes. `undefined`: no. */
function contentOfText(text: string, schema: JsonObject): JsonValue | undefined {
  const word = text.trim().toLowerCase();
  if (Object.keys(objectOf(schema["properties"])).length === 0) return NO.includes(word) ? undefined : {};
  const name = onlyName(schema);
  if (name === undefined) return text;
  const type = typeOf(schema, name);
  if (type === "boolean" && [...YES, ...NO].includes(word)) return { [name]: YES.includes(word) };
  const number = Number(word);
  if ((type === "number" || type === "integer") && word !== "" && Number.isFinite(number)) return { [name]: number };
  return { [name]: text };
}
