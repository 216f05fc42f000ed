import { relayedAnswer, relayedQuestion } from "../../protocol/calls/relayed-question.ts";
import { inputSchemaOf } from "../../protocol/input-request.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import { type Part, textOf } from "../../protocol/part.ts";
import type { TaskStatus } from "../../protocol/task.ts";
import type { CallOptions, CallQuestion } from "../agent/call-types.ts";
import { toParts } from "../agent/output.ts";
import type { CallingTask } from "./calling-task.ts";

/** A question of a called task, and who answers it. */
export interface AskedByCallee {
  /** Under which its answer is stored. */
  readonly key: string;
  /** The called agent, for people. */
  readonly name: string;
  readonly taskId: string;
  readonly status: TaskStatus;
  readonly onInput: Exclude<CallOptions["onInput"], "fail">;
  /** Resolves when the called agent no longer needs an answer. */
  readonly changed: (signal: AbortSignal) => Promise<void>;
}

/** The content of an answer, with the request ids of the called agent. */
export interface CalleeAnswer {
  readonly parts: readonly Part[];
  readonly metadata?: JsonObject;
}

/** An answer of the author's function, as it is stored. `null`: it passed the question on. */
type StoredAnswer = { readonly parts: readonly Part[] } | { readonly sealed: string } | null;

/** Gets the answer to a question, also after a restart. `undefined`: the called agent continues without one. */
export async function answerOf(task: CallingTask, asked: AskedByCallee): Promise<CalleeAnswer | undefined> {
  const { status, key, name, changed } = asked;
  const { message, state } = status;
  const { parts = [], sensitive, requestId } = relayedQuestion(message);
  const kind = state === "auth-required" ? "auth" : "input";
  const own = await authorsAnswer(task, asked, {
    kind,
    text: textOf(parts),
    parts,
    sensitive,
    schema: parts.map((part) => inputSchemaOf(part)?.schema).find((schema) => schema !== undefined),
    taskId: asked.taskId,
  });
  if (own !== undefined) return relayedAnswer({ parts: own }, message, requestId);
  const needs = kind === "auth" ? "an authorisation" : "an answer";
  const answer = await task.forward({
    name: key,
    kind,
    parts: parts.length > 0 ? parts : [{ text: `${name} needs ${needs}.` }],
    sensitive,
    until: changed,
  });
  return answer === undefined ? undefined : relayedAnswer(answer, message, requestId);
}

async function authorsAnswer(
  task: CallingTask,
  { key, onInput }: AskedByCallee,
  question: CallQuestion,
): Promise<readonly Part[] | undefined> {
  if (typeof onInput !== "function") return undefined;
  // Safe cast: what this function has stored.
  const stored = task.recall(key) as StoredAnswer | undefined;
  if (stored === null) return undefined;
  if (stored !== undefined && "parts" in stored) return stored.parts;
  // Safe cast: as above.
  const opened = stored === undefined ? undefined : (task.unseal(stored.sealed) as readonly Part[] | undefined);
  if (opened !== undefined) return opened;
  const output = await onInput(question);
  task.requireOpen();
  const parts = output === undefined ? undefined : toParts(output);
  const shown: StoredAnswer =
    parts === undefined ? null : question.sensitive ? { sealed: task.seal(parts as unknown as JsonValue) } : { parts };
  task.remember(key, shown as unknown as JsonValue);
  await task.flush();
  return parts;
}
