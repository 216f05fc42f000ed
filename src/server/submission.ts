import type { Submission, Submitted, SubmittedWebhook } from "../engine/api.ts";
import { type CallPath, NO_CALL_PATH } from "../protocol/call-path.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Principal, Scope } from "../protocol/principal.ts";
import { answeredTask } from "./answered-task.ts";
import { skillGuard } from "./authorize.ts";
import { type Call, scopeOf } from "./call.ts";
import { activeExtensions } from "./extensions.ts";
import { checkMediaTypes } from "./media-types.ts";
import { pushCaller, requirePush } from "./push-caller.ts";
import type { Service } from "./service.ts";

/** Gives the engine a caller's message, unless the agent could not read or answer it. */
export async function submitMessage(service: Service, call: Call, request: SendRequest): Promise<Submitted> {
  const { agent, engine } = service;
  checkMediaTypes(agent, request);
  const submission = new CallSubmission(service, call, request);
  submission.webhook = webhookOf(service, call, request);
  const mayAnswer = call.policy.answersByReference && request.message.referenceTaskIds !== undefined;
  const submitted = await engine.submit(
    mayAnswer ? await addressed(service, submission, { call, request }) : submission,
  );
  if (submission.webhook !== undefined) watch(service, submitted, submission.webhook);
  return submitted;
}

/** The message, to the task whose question it answers if it only refers to that one. */
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

/** Where the caller wants to be notified of what comes of its message. */
function webhookOf(service: Service, call: Call, request: SendRequest): SubmittedWebhook | undefined {
  if (request.push === undefined) return undefined;
  const desk = requirePush(service);
  const caller = pushCaller(service, call, request.tenant);
  const draft = desk.draft(caller, request.push, "configuration.pushNotificationConfig");
  return { draft, maxPerTask: desk.maxPerTask, only: call.policy.push.single };
}

/** Has the webhook told as soon as it is durable. The answer does not wait for that, and what becomes of the message is told elsewhere. */
function watch({ engine, push }: Service, submitted: Submitted, { draft }: SubmittedWebhook): void {
  if (submitted.kind !== "task") return;
  const { ticket } = submitted;
  engine.accepted(ticket).then(
    () => push?.stored(ticket.key, draft),
    () => {},
  );
}

/** A caller's message on its way to the engine. A class, so that the call's signal stays unmade until somebody asks. */
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
    this.extensions = activeExtensions(service, call);
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
