import type { TaskContext, Usage } from "../../engine/agent/agent.ts";
import type { JsonObject, JsonValue } from "../../protocol/json.ts";
import type { Part } from "../../protocol/part.ts";
import type { Approval } from "../models/run-tool.ts";

/** What a framework does, in the order in which it happens. */
export type FrameworkEvent =
  /** A model begins a message: its text is separated from the text before. */
  | { readonly kind: "message" }
  | { readonly kind: "text"; readonly text: string }
  /** A result that is not text of a model. */
  | { readonly kind: "output"; readonly output: JsonValue }
  | { readonly kind: "tool-call"; readonly id: string; readonly name: string; readonly input: JsonValue }
  | { readonly kind: "tool-result"; readonly id: string; readonly output: JsonValue }
  | { readonly kind: "tool-failure"; readonly id: string; readonly error: string }
  | { readonly kind: "usage"; readonly usage: Usage }
  /** The framework can continue from here in another process. */
  | { readonly kind: "checkpoint"; readonly state: JsonObject }
  /** The framework has ended. With questions, it continues from `state` and the answers. */
  | { readonly kind: "end"; readonly state: JsonObject; readonly questions: readonly FrameworkQuestion[] };

/** What the framework needs to continue. `key` connects the answer with the question; it must be the same in a replay. */
export type FrameworkQuestion =
  /** May this tool run? */
  | { readonly kind: "approval"; readonly key: string; readonly name: string; readonly input: JsonValue }
  /** The caller is asked to run a tool of its own. */
  | { readonly kind: "tool"; readonly key: string; readonly name: string; readonly input: JsonValue }
  | { readonly kind: "input"; readonly key: string; readonly question: string | readonly Part[] };

/** `approval`: a decision; `tool`: the tool's result; `input`: any JSON. */
export type FrameworkAnswer =
  | { readonly kind: "approval"; readonly key: string; readonly decision: Approval }
  | {
      readonly kind: "tool";
      readonly key: string;
      readonly name: string;
      readonly output?: JsonValue;
      readonly error?: string;
    }
  | { readonly kind: "input"; readonly key: string; readonly value: JsonValue };

/** A stored checkpoint; or the answers to all questions of the `end` before, in their order. */
export type FrameworkProgress =
  | { readonly state: JsonObject; readonly answers?: never }
  | { readonly answers: readonly FrameworkAnswer[]; readonly state?: never };

/** The place from which a framework runs. */
export interface FrameworkRun {
  readonly task: TaskContext;
  /** The stored checkpoints and answers of this turn, oldest first. Empty at the beginning. */
  readonly progress: readonly FrameworkProgress[];
}

/** One agent of a framework. Each adapter defines what its states contain. It must follow `task.signal`, and may fail in any way. */
export interface Framework {
  /** Runs until the agent has finished or needs answers; the last event is `end`. */
  run(run: FrameworkRun): AsyncIterable<FrameworkEvent>;
}
