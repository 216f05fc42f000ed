import { authRequestOf } from "../../protocol/auth-request-part.ts";
import { inputRequestsOf, inputSchemaOf } from "../../protocol/input-request.ts";
import { isJsonObject, type JsonValue } from "../../protocol/json.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import { isInterrupted } from "../../protocol/state.ts";
import type { TaskStatus } from "../../protocol/task.ts";
import type { ClientAbilities, InputRequestOfServer } from "./contract.ts";
import { type AnswerForm, answerForm } from "./form-schema.ts";

/** An open question of a task, as MCP clients get it. */
export interface OpenQuestion {
  /** Unique for the whole life of the task. */
  readonly id: string;
  /** The name that the agent's author gave it. */
  readonly name: string | undefined;
  readonly prompt: string;
  readonly form: AnswerForm;
  /** The answer is a secret. Forms of MCP must not ask for secrets. */
  readonly isSecret: boolean;
  /** Where the user authorises something, if the question is a request for an authorisation. */
  readonly url: string | undefined;
  /** The question is one of the agent's, so an answer can name it. */
  readonly isNamed: boolean;
}

/** The id of a question of a remote agent that gives it none. */
const UNNAMED = "question";

/** The open questions of a task; empty if it does not wait for its caller. */
export function openQuestions({ state, message }: TaskStatus): readonly OpenQuestion[] {
  if (!isInterrupted(state)) return [];
  const parts = message?.parts ?? [];
  const requests = inputRequestsOf(message);
  const auth = parts.flatMap((part) => authRequestOf(part) ?? []);
  const url = authorizationUrl(parts);
  if (requests.length === 0) {
    const [request] = auth;
    const schema = parts.flatMap((part) => inputSchemaOf(part) ?? [])[0]?.schema;
    const id = request?.requestId ?? `${UNNAMED}-${message?.messageId ?? ""}`;
    return [
      {
        id,
        name: undefined,
        prompt: textOf(parts),
        form: answerForm(schema),
        isSecret: state === "auth-required" && url === undefined,
        url: state === "auth-required" ? url : undefined,
        isNamed: request !== undefined,
      },
    ];
  }
  return requests.map(({ requestId, name, prompt, kind, sensitive }) => {
    const schema = parts.flatMap((part) => inputSchemaOf(part) ?? []).find((input) => input.requestId === requestId);
    const isAuth = kind === "auth-request";
    const isSecret = sensitive === true || (isAuth && url === undefined);
    const shown = prompt === "" ? textOf(parts) : prompt;
    return {
      id: requestId,
      name,
      prompt: shown,
      form: answerForm(schema?.schema),
      isSecret,
      url: isAuth ? url : undefined,
      isNamed: true,
    };
  });
}

/** An address that the user must open to authorise: of a link in the question, or of an OAuth flow in it. */
function authorizationUrl(parts: readonly Part[]): string | undefined {
  const links = parts.flatMap(({ url }) => url ?? []);
  const flows = parts.flatMap((part) => authRequestOf(part)?.schemes ?? []).flatMap((scheme) => urlsIn(scheme));
  return [...links, ...flows].find((url) => /^https?:/.test(url));
}

function urlsIn(value: JsonValue): readonly string[] {
  if (Array.isArray(value)) return value.flatMap(urlsIn);
  if (!isJsonObject(value)) return [];
  const { authorizationUrl: url } = value;
  return typeof url === "string" ? [url] : Object.values(value).flatMap(urlsIn);
}

/** The request that shows a question to the user; `undefined` if the client cannot show it. */
export function requestFor(question: OpenQuestion, client: ClientAbilities): InputRequestOfServer | undefined {
  const { id, prompt, form, url, isSecret } = question;
  const message = prompt === "" ? "The agent waits for an answer." : prompt;
  if (url !== undefined) {
    if (!client.urls) return undefined;
    return { method: "elicitation/create", params: { mode: "url", message, url, elicitationId: id } };
  }
  if (isSecret || !client.forms) return undefined;
  return { method: "elicitation/create", params: { mode: "form", message, requestedSchema: form.schema } };
}

/** The requests for all questions that the client can show, by the keys that responses use. */
export function requestsFor(
  questions: readonly OpenQuestion[],
  client: ClientAbilities,
  keyOf: (question: OpenQuestion) => string,
): Readonly<Record<string, InputRequestOfServer>> {
  return Object.fromEntries(
    questions.flatMap((question) => {
      const request = requestFor(question, client);
      return request === undefined ? [] : [[keyOf(question), request]];
    }),
  );
}

/** Keys that people can read: the names that authors gave the questions, if they differ. */
export function namedKeys(questions: readonly OpenQuestion[]): (question: OpenQuestion) => string {
  const names = questions.map(({ name }) => name);
  return ({ id, name }) => (name !== undefined && names.indexOf(name) === names.lastIndexOf(name) ? name : id);
}

/** What the user did with a request. */
export type UserResponse =
  | { readonly kind: "answer"; readonly parts: readonly Part[] }
  /** The user declined or closed the form. */
  | { readonly kind: "declined" }
  | { readonly kind: "invalid"; readonly problem: string };

/** The text that tells an agent that its request for an authorisation was granted elsewhere. */
const AUTHORISED = "Authorised.";

/** Reads a response of the client to the request for a question. */
export function readResponse(question: OpenQuestion, response: unknown): UserResponse {
  if (!isJsonObject(response)) return { kind: "invalid", problem: "must be an object with action and content" };
  const { action, content } = response;
  if (action === "decline" || action === "cancel") return { kind: "declined" };
  if (action !== "accept") return { kind: "invalid", problem: "action must be accept, decline or cancel" };
  if (question.url !== undefined) return { kind: "answer", parts: [{ text: AUTHORISED }] };
  if (!isJsonObject(content)) return { kind: "invalid", problem: "content must be an object" };
  const part = question.form.read(content);
  return part === undefined ? { kind: "invalid", problem: "content has no answer" } : { kind: "answer", parts: [part] };
}

/** The questions as text, for clients that cannot show them, with what to do. */
export function questionsAsText(questions: readonly OpenQuestion[], taskId: string): string {
  const shown = questions.map(({ prompt, isSecret, url }) => {
    if (url !== undefined) return `${prompt}\nOpen this address to authorise: ${url}`;
    return isSecret
      ? `${prompt}\n(The answer is a secret. Do not send it through this tool: answer it over A2A.)`
      : prompt;
  });
  return `${shown.join("\n\n")}\n\nThe agent waits for an answer. Ask the user, then call the tool ${ANSWER_TOOL} with task ${JSON.stringify(taskId)}.`;
}

/** The tool by which clients without forms answer. */
export const ANSWER_TOOL = "answer_agent";
