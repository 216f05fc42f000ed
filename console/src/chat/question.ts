import type { AuthRequestData, JsonObject, Message, Part, Task } from "palaver/client";
import { authRequestOf } from "../../../src/protocol/auth-request-part.ts";
import { answerMetadata, inputRequestsOf, inputSchemaOf } from "../../../src/protocol/input-request.ts";

/** What a task waits for. */
export interface OpenQuestion {
  readonly taskId: string;
  readonly text: string;
  /** The answer names it; absent if the agent gives none. */
  readonly requestId: string | undefined;
  readonly isSecret: boolean;
  /** JSON Schema of the answer; absent: the answer is a text. */
  readonly schema: JsonObject | undefined;
  /** The agent waits for an authorisation. */
  readonly isAuthorization: boolean;
  /** What is to be authorised, for programs; agents of others may not say it. */
  readonly authorization: AuthRequestData | undefined;
}

/** The first open question of a task; `undefined` if it does not wait. */
export function questionOf({ id, status }: Task): OpenQuestion | undefined {
  if (status.state !== "input-required" && status.state !== "auth-required") return undefined;
  return questionIn(id, status);
}

/** A status, as far as questions are read from it. */
interface AskingStatus {
  readonly state: string;
  readonly message?: Pick<Message, "parts" | "metadata">;
}

/** The first question in the status of a task that waits. */
export function questionIn(taskId: string, { state, message }: AskingStatus): OpenQuestion {
  const parts = message?.parts ?? [];
  const request = inputRequestsOf(message)[0];
  const authorization = parts.flatMap((part) => authRequestOf(part) ?? [])[0];
  const schemas = parts.flatMap((part) => inputSchemaOf(part) ?? []);
  const schema =
    schemas.find(({ requestId }) => requestId === request?.requestId) ??
    (schemas.length === 1 ? schemas[0] : undefined);
  return {
    taskId,
    text: readableText(message) || request?.prompt || authorization?.description || "The agent needs an answer.",
    requestId: request?.requestId ?? authorization?.requestId,
    isSecret:
      request?.sensitive === true || message?.metadata?.["sensitive"] === true || authorization?.secret === true,
    schema: schema?.schema,
    isAuthorization: state === "auth-required" || authorization !== undefined,
    authorization,
  };
}

/** The text of a message for people. */
export function readableText(message: Pick<Message, "parts"> | undefined): string {
  return (message?.parts ?? [])
    .map((part) => part.text ?? "")
    .join("")
    .trim();
}

/** Parts that programs read and people do not: the schema of a question, an authorisation request. */
export function isForPrograms(part: Part): boolean {
  return inputSchemaOf(part) !== undefined || authRequestOf(part) !== undefined;
}

/** The metadata of an answer. */
export function metadataOf({ requestId }: OpenQuestion): JsonObject {
  return requestId === undefined ? {} : answerMetadata(requestId);
}
