import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Artifact } from "../../protocol/artifact.ts";
import type { Budget } from "../../protocol/calls/ancestry.ts";
import type { Counters } from "../../protocol/calls/call-tree.ts";
import type { ArtifactEvent, StatusEvent } from "../../protocol/event.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Message } from "../../protocol/message.ts";
import type { Part } from "../../protocol/part.ts";
import type { TaskState, TerminalState } from "../../protocol/state.ts";
import type { Output } from "./output-types.ts";

/**
 * The agent to call: the id of an agent of this server, or the agent itself; the URL of any other agent; or a client that `connect` has returned, for
 * an agent that needs credentials. Which URLs may be called, the server option `outgoing` says.
 */
export type CallTarget =
  | string
  | URL
  | { readonly id: string; readonly name: string; readonly description: string }
  | { readonly card: { readonly name: string } };

/** A skill with a schema: the message must be its input. */
export interface CallSkill<Input extends StandardSchemaV1 | undefined> {
  readonly id: string;
  readonly input?: Input;
}

/** What a call sends: any output, or the input of the named skill. */
export type CallMessage<Input extends StandardSchemaV1 | undefined> = Input extends StandardSchemaV1
  ? StandardSchemaV1.InferInput<Input>
  : Output;

/** The data of a result: the output of the schema `output`, else any JSON. */
export type CallData<Result extends StandardSchemaV1 | undefined> = Result extends StandardSchemaV1
  ? StandardSchemaV1.InferOutput<Result>
  : JsonValue | undefined;

/** A question of a called agent. */
export interface CallQuestion {
  /** `auth`: it needs an authorisation. */
  readonly kind: "input" | "auth";
  readonly text: string;
  readonly parts: readonly Part[];
  readonly sensitive: boolean;
  /** JSON Schema of the answer, if the agent gives one. */
  readonly schema: JsonObject | undefined;
  readonly taskId: string;
}

/** Options of `task.call`. */
export interface CallOptions<
  Input extends StandardSchemaV1 | undefined = undefined,
  Result extends StandardSchemaV1 | undefined = undefined,
> {
  /** Identifies the call in a replay, together with how many calls of this name came before. Default: the agent. */
  readonly name?: string;
  /** The skill to use: its id, or the skill itself, which also types the message. */
  readonly skill?: string | CallSkill<Input>;
  /** Validates the data of the result. A result that does not fit fails with `call-invalid-result`. */
  readonly output?: Result;
  /** `own` (default): the called task gets a context of its own. `same`: the context id of this task. Any other text is a context id. */
  readonly context?: "own" | "same" | (string & {});
  /**
   * What to do if the agent asks: `forward` (default) asks the caller of this task; `fail` ends the call with `call-needs-input`; a function returns the answer,
   * or `undefined` to forward the question. What it returns is stored, so it runs once for each question.
   */
  readonly onInput?:
    | "forward"
    | "fail"
    | ((question: CallQuestion) => Output | undefined | Promise<Output | undefined>);
  /** True: the called task continues if this task ends or is canceled. Default false. */
  readonly detach?: boolean;
  /** Milliseconds after which the called task is canceled and the call fails with `call-timeout`. Default: the limits of this task. */
  readonly timeout?: number;
  /** What the called task and its own calls may use at most. Default: what this task may still use. */
  readonly budget?: Budget;
  /** Show the called agent's status messages as status of this task. Default false. */
  readonly forwardStatus?: boolean;
  /** Metadata of the request. */
  readonly metadata?: JsonObject;
  /** Media types that the call accepts. Default: any. */
  readonly outputModes?: readonly string[];
}

/** The result of a call. */
export interface CallResult<Data = JsonValue | undefined> {
  /** `undefined`: the agent answered with a message, without a task. */
  readonly taskId: string | undefined;
  readonly contextId: string | undefined;
  readonly state: TerminalState;
  /** All text of the result: of the artifacts, else of the last message. */
  readonly text: string;
  /** The first data part of the result, as `output` validated it. */
  readonly data: Data;
  readonly parts: readonly Part[];
  readonly artifacts: readonly Artifact[];
  /** What the called task and its own calls have used, as the agent reports it. */
  readonly usage: Counters;
}

/** An event of a called task. After a restart, the events may come in larger pieces. */
export type CallEvent =
  | (StatusEvent & { readonly taskId: string; readonly state: TaskState; readonly text: string })
  | (ArtifactEvent & { readonly taskId: string; readonly text: string })
  | { readonly kind: "message"; readonly message: Message; readonly text: string };

/**
 * A call of another agent. Await it for the result, or read its events with `for await`, or both. It starts at once. Rejects with a `CallError` whose
 * `code` says why. A call that nothing waits for is canceled when this task ends, unless it is detached.
 */
export interface AgentCall<Data = JsonValue | undefined> extends Promise<CallResult<Data>>, AsyncIterable<CallEvent> {
  /** Resolves when the agent has accepted the message; `taskId` is `undefined` if it answered without a task. */
  readonly started: Promise<{ readonly taskId: string | undefined; readonly contextId: string | undefined }>;
  /** Cancels the called task. The call rejects with `call-canceled`. */
  cancel(): Promise<void>;
}

/** Limits of the calls that the tasks of an agent make. Refused calls do no work and send nothing. */
export interface CallLimits {
  /** How many calls may lead from the root of a tree to a task. Default 8. */
  readonly depth: number;
  /** Whether an agent may be called that is on the way from the root already. Default false. */
  readonly cycles: boolean;
  /** Calls of one task that are open at a time. Default 16. */
  readonly fanOut: number;
  /** Calls of one turn of a task in total. Default 100. */
  readonly perTask: number;
  /** Calls of all tasks of one agent within a minute. Default 300. */
  readonly perMinute: number;
  /** Different agents that one turn of a task calls. Default 20. */
  readonly agents: number;
  /** Milliseconds for which an agent is not called after it has failed 5 times in a row, for tasks of one agent. Default 30 000; 0: off. */
  readonly coolDown: number;
  /** What a tree of calls may use. Default: no limit. */
  readonly budget: Budget;
}
