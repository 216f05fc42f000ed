import type { Submission, Submitted } from "../engine/api.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Principal, Scope } from "../protocol/principal.ts";
import { answeredTask } from "./answered-task.ts";
import { type Call, scopeOf } from "./call.ts";
import { activeExtensions } from "./extensions.ts";
import { checkMediaTypes } from "./media-types.ts";
import type { Service } from "./service.ts";

/** Gives the engine a caller's message, unless the agent could not read or answer it. */
export async function submitMessage(service: Service, call: Call, request: SendRequest): Promise<Submitted> {
  const { agent, engine } = service;
  checkMediaTypes(agent, request);
  const submission = new CallSubmission(service, call, request);
  if (!call.policy.answersByReference || request.message.referenceTaskIds === undefined) {
    return engine.submit(submission);
  }
  const taskId = await answeredTask(service, submission.scope, request.message);
  if (taskId === undefined) return engine.submit(submission);
  const message = { ...request.message, taskId };
  return engine.submit(new CallSubmission(service, call, { ...request, message }));
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
  readonly timeoutMs: number | undefined;
  readonly traceparent: string | undefined;
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
    this.timeoutMs = request.timeoutMs;
    this.traceparent = call.traceparent;
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
