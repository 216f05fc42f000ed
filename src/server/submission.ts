import type { Submission, Submitted, SubmittedWebhook } from "../engine/api.ts";
import type { SendRequest } from "../protocol/operation.ts";
import { answeredTask } from "./answered-task.ts";
import { skillGuard } from "./authorize.ts";
import { type Call, scopeOf } from "./call.ts";
import { checkMediaTypes } from "./media-types.ts";
import { pushCaller, requirePush } from "./push-caller.ts";
import type { Service } from "./service.ts";

/** Milliseconds. */
const CALLS_COUNT_ONCE_FOR = 365 * 24 * 3_600_000;

/**
 * Submits a caller's message to the engine. Throws `push-not-supported` if the message has a webhook and the agent has no push
 * notifications, and `content-type-not-supported` if the agent cannot read or answer the message.
 */
export function submitMessage(service: Service, call: Call, request: SendRequest): Submitted | Promise<Submitted> {
  const { agent, engine, answerByContext, idempotencyWindow } = service;
  const webhook = webhookOf(service, call, request);
  checkMediaTypes(agent, request);
  const submission: Submission = {
    call,
    request,
    scope: scopeOf(call, agent.id, request.tenant),
    answersByContext: answerByContext !== false && call.policy.answersByContext !== false,
    webhook,
    // A message that an agent sends for a task counts once, so that it can be sent again after a crash.
    idempotencyWindow: idempotencyWindow ?? (call.ancestry === undefined ? undefined : CALLS_COUNT_ONCE_FOR),
    admitSkill: skillGuard(service, call, request),
  };
  const mayAnswer = call.policy.answersByReference && request.message.referenceTaskIds !== undefined;
  const submitted = mayAnswer
    ? addressed(service, submission).then((found) => engine.submit(found))
    : engine.submit(submission);
  if (webhook === undefined) return submitted;
  return Promise.resolve(submitted).then((accepted) => {
    notifyOnceStored(service, accepted, webhook);
    return accepted;
  });
}

/** The submission with a `taskId`, if the message only refers to the one task whose question it answers. */
async function addressed(service: Service, submission: Submission): Promise<Submission> {
  const { scope, request } = submission;
  const taskId = await answeredTask(service, scope, request.message);
  if (taskId === undefined) return submission;
  return { ...submission, request: { ...request, message: { ...request.message, taskId } } };
}

/** The webhook that the caller sent along with its message. */
function webhookOf(service: Service, call: Call, { push, tenant }: SendRequest): SubmittedWebhook | undefined {
  if (push === undefined) return undefined;
  const configs = requirePush(service);
  const caller = pushCaller(service, call, tenant);
  const draft = configs.prepare(caller, push, "configuration.pushNotificationConfig");
  return {
    draft,
    maxPerTask: configs.maxPerTask,
    only: call.policy.push.single,
    isSame: (stored) => configs.isSame(draft, stored, caller.scope),
  };
}

/**
 * Starts to notify the webhook as soon as it is stored. The answer does not wait for the store, and a failure to store the message is
 * reported to the caller by the operation itself.
 */
function notifyOnceStored({ push }: Service, submitted: Submitted, { draft }: SubmittedWebhook): void {
  if (submitted.kind !== "task") return;
  const { ticket } = submitted;
  ticket.stored().then(
    () => push?.stored(ticket.key, draft),
    () => {},
  );
}
