import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonSchemaSource, TaskContext } from "../../engine/agent/agent.ts";
import type { JsonValue } from "../../protocol/json.ts";

/** What a tool gets besides its input. */
export interface ToolRun {
  readonly task: TaskContext;
  /** An idempotency key: the same for every attempt of this call. Pass it to the services that the tool calls. */
  readonly key: string;
  readonly signal: AbortSignal;
}

/** A tool that the model may call. */
export interface Tool<Schema extends StandardSchemaV1 | undefined = StandardSchemaV1 | undefined> {
  /** For the model: what the tool does, and when to use it. */
  readonly description: string;
  /** Validates the input. The model gets its JSON Schema, and the problems of an invalid input. Absent: no input. */
  readonly input?: Schema;
  /** The JSON Schema of `input`, if its library does not support Standard JSON Schema. */
  readonly jsonSchema?: JsonSchemaSource;
  /** Runs the tool; its result is stored and must be JSON. Absent: the caller of the agent runs the tool, and the task waits for the result. */
  execute?(
    input: Schema extends StandardSchemaV1 ? StandardSchemaV1.InferOutput<Schema> : undefined,
    run: ToolRun,
  ): JsonValue | Promise<JsonValue>;
  /**
   * The tool may run again if the process died while it ran. Default false: it does not run again, and the model gets an error that says that the outcome is unknown.
   */
  readonly repeatable?: boolean;
  /** The caller must approve each call. Default false. */
  readonly approve?: boolean | ((input: JsonValue, task: TaskContext) => boolean);
  /** Milliseconds after which a call fails. Default 60000. */
  readonly timeout?: number;
}

/** The tools of an agent by name. */
export type Tools = Readonly<Record<string, Tool>>;

/**
 * Provides the tools of a task: local functions, tools of the caller, tools of an MCP server. It is called when a task starts, and again when it continues after a
 * restart. `close` frees what it holds, such as connections; it may be called twice.
 */
export interface ToolProvider {
  (task: TaskContext): Tools | Promise<Tools>;
  close?(): Promise<void>;
}

/** Declares a tool, so that `execute` gets the output type of its schema. */
export function tool<const Schema extends StandardSchemaV1 | undefined = undefined>(declaration: Tool<Schema>): Tool {
  return declaration;
}
