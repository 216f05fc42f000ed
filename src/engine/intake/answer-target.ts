import { type A2AError, invalidField } from "../../protocol/error.ts";
import { type NamedRequest, namedRequests, REQUEST_ID_FIELD } from "../../protocol/input-request.ts";
import type { Message } from "../../protocol/message.ts";
import { isNamed, type PendingQuestion, type Questions } from "../record/runner-record.ts";

const MAX_LISTED = 20;
const MAX_PROMPT = 80;
const NONE: readonly PendingQuestion[] = [];

/**
 * The open questions that a message answers: the questions it refers to by request id or, without one, the only open question. An empty list:
 * the message is not an answer. Throws `invalid-params` if it refers to a question that is not open, or to none although several are open.
 */
export function answerTargets(questions: Questions | undefined, message: Message): readonly PendingQuestion[] {
  if (questions === undefined) return NONE;
  const { open, answered } = questions;
  const named = namedRequests(message);
  if (named.length === 0) {
    if (open.length > 1) throw invalidField(REQUEST_ID_FIELD, `is required, ${describeOpen(open)}`);
    return open;
  }
  // While no question is open, a tool result may be a message for task.next().
  if (open.length === 0 && !named.some((request) => isAnAnswer(request, answered))) return NONE;
  return named.map((request) => {
    const target = open.find((question) => isNamed(question, request.id));
    if (target === undefined) throw notOpen(request, questions);
    return target;
  });
}

function isAnAnswer({ id, field }: NamedRequest, answered: readonly string[]): boolean {
  return field === REQUEST_ID_FIELD || answered.includes(id);
}

function notOpen({ id, field }: NamedRequest, { open, answered }: Questions): A2AError {
  const problem = answered.includes(id)
    ? "refers to a question that is already answered or closed"
    : "does not match any question of the task";
  return invalidField(field, `${problem}, ${describeOpen(open)}`);
}

function describeOpen(open: readonly PendingQuestion[]): string {
  if (open.length === 0) return "and no question is open";
  const listed = open
    .slice(0, MAX_LISTED)
    .map(({ id, prompt }) => `${id} (${JSON.stringify(prompt.slice(0, MAX_PROMPT))})`);
  if (open.length > MAX_LISTED) listed.push(`and ${open.length - MAX_LISTED} more`);
  return open.length === 1
    ? `and the open question is ${listed[0]}`
    : `and the open questions are ${listed.join(", ")}`;
}
