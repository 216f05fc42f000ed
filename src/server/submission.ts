import type { Submission, Submitted, SubmittedWebhook } from "../engine/api.ts";
import { type CallPath, NO_CALL_PATH } from "../protocol/call-path.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Principal, Scope } from "../protocol/principal.ts";
import type { WebhookConfigService } from "../push/contract.ts";
import { answeredTask } from "./answered-task.ts";
import { skillGuard } from "./authorize.ts";
import { type Call, scopeOf } from "./call.ts";
import { checkMediaTypes } from "./media-types.ts";
import { pushCaller } from "./push-caller.ts";
import type { Service } from "./service.ts";

export interface SentMessage {
  readonly request: SendRequest;
  /** Stores the message's webhook; `undefined` if the message has none. */
  readonly configs: WebhookConfigService | undefined;
}

/** Submits a caller's message to the engine. Throws `content-type-not-supported` if the agent cannot read or answer the message. */
export async function submitMessage(service: Service, call: Call, sent: SentMessage): Promise<Submitted> {
  const { agent, engine } = service;
  const { request } = sent;
  checkMediaTypes(agent, request);
  const submission = new CallSubmission(service, call, request);
  submission.webhook = webhookOf(service, call, sent);
  const mayAnswer = call.policy.answersByReference && request.message.referenceTaskIds !== undefined;
  const submitted = await engine.submit(
    mayAnswer ? await addressed(service, submission, { call, request }) : submission,
  );
  if (submission.webhook !== undefined) notifyOnceStored(service, submitted, submission.webhook);
  return submitted;
}

/** The submission with a `taskId`, if the message only refers to the one task whose question it answers. */
async function addressed(
  service: Service,
  submission: CallSubmission,
  { call, request }: { readonly call: Call; readonly request: SendRequest },
): Promise<Submission> {
  const taskId = await answeredTask(service, submission.scope, request.message);
  if (taskId === undefined) return submission;
  const other = new CallSubmission(service, call, { ...request, message: { ...request.message, taskId } });
  other.webhook = submission.webhook;
  return other;
}

/** The webhook that the caller sent along with its message. */
function webhookOf(service: Service, call: Call, { request, configs }: SentMessage): SubmittedWebhook | undefined {
  if (request.push === undefined || configs === undefined) return undefined;
  const caller = pushCaller(service, call, request.tenant);
  const draft = configs.prepare(caller, request.push, "configuration.pushNotificationConfig");
  return { draft, maxPerTask: configs.maxPerTask, only: call.policy.push.single };
}

/**
 * Starts to notify the webhook as soon as it is stored. The answer does not wait for the store, and a failure to store the message is
 * reported to the caller by the operation itself.
 */
function notifyOnceStored({ engine, push }: Service, submitted: Submitted, { draft }: SubmittedWebhook): void {
  if (submitted.kind !== "task") return;
  const { ticket } = submitted;
  engine.accepted(ticket).then(
    () => push?.stored(ticket.key, draft),
    () => {},
  );
}

/** A caller's message as the engine receives it. A class with a getter, because creating the call's `signal` is expensive and often unneeded. */
class CallSubmission implements Submission {
  readonly scope: Scope;
  readonly caller: Principal;
  readonly dialect: string;
  readonly message: Message;
  readonly metadata: JsonObject;
  readonly outputModes: readonly string[];
  readonly extensions: readonly string[];
  readonly streaming: boolean;
  readonly namesTask: boolean;
  readonly tasksOnly: boolean;
  readonly answersByContext: boolean;
  readonly timeoutMs: number | undefined;
  readonly traceparent: string | undefined;
  readonly callPath: CallPath;
  readonly admitSkill: ((skill: string) => void) | undefined;
  readonly idempotencyWindow: number | undefined;
  webhook: SubmittedWebhook | undefined;
  readonly #call: Call;

  constructor(service: Service, call: Call, request: SendRequest) {
    this.scope = scopeOf(call, service.agent.id, request.tenant);
    this.caller = call.principal;
    this.dialect = call.dialect;
    this.message = request.message;
    this.metadata = request.metadata;
    this.outputModes = request.outputModes;
    this.extensions = call.activeExtensions;
    this.streaming = request.operation === "stream";
    this.namesTask = call.policy.namesTasks;
    this.tasksOnly = call.policy.tasksOnly;
    this.answersByContext = service.answerByContext !== false && call.policy.answersByContext !== false;
    this.timeoutMs = request.timeoutMs;
    this.traceparent = call.traceparent;
    this.callPath = call.callPath ?? NO_CALL_PATH;
    this.admitSkill = skillGuard(service, call, request);
    this.idempotencyWindow = service.idempotencyWindow;
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
