import type { Submission } from "../engine/api.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { Message } from "../protocol/message.ts";
import type { SendRequest } from "../protocol/operation.ts";
import type { Principal, Scope } from "../protocol/principal.ts";
import type { Call } from "./call.ts";

/** A caller's message on its way to the engine. A class, so that the call's signal stays unmade until somebody asks. */
export class CallSubmission implements Submission {
  readonly scope: Scope;
  readonly caller: Principal;
  readonly dialect: string;
  readonly message: Message;
  readonly metadata: JsonObject;
  readonly outputModes: readonly string[];
  readonly streaming: boolean;
  readonly #call: Call;

  constructor(call: Call, scope: Scope, request: SendRequest) {
    this.scope = scope;
    this.caller = call.principal;
    this.dialect = call.dialect;
    this.message = request.message;
    this.metadata = request.metadata;
    this.outputModes = request.outputModes;
    this.streaming = request.operation === "stream";
    this.#call = call;
  }

  get signal(): AbortSignal {
    return this.#call.signal;
  }
}
