import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { Agent, AgentDefinition, Skill } from "./definition.ts";
import { definitionProblems } from "./definition-problems.ts";

// Other folders import the types from this file only.
export type {
  AgentCall,
  CallData,
  CallEvent,
  CallLimits,
  CallMessage,
  CallOptions,
  CallQuestion,
  CallResult,
  CallSkill,
  CallTarget,
} from "./call-types.ts";
export type {
  Agent,
  AgentDefinition,
  DeclaredCapabilities,
  ExtendedCard,
  InputTimeout,
  ReplyCall,
  RestartPolicy,
  Skill,
} from "./definition.ts";
export type { JsonSchemaSource } from "./json-schema.ts";
export type {
  ArtifactChunk,
  FileOutput,
  ObservableLike,
  Output,
  ReceivedFile,
  RunResult,
  StatusUpdate,
} from "./output-types.ts";
export { type AbortCause, TaskAborted } from "./task-aborted.ts";
export type {
  Answer,
  ArtifactOptions,
  ArtifactWriter,
  AskOptions,
  AuthOptions,
  AuthRequest,
  ContextValues,
  ConversationMessage,
  ConversationOptions,
  RunFunction,
  StatusLinks,
  StepContext,
  StepOptions,
  TaskContext,
  TaskLog,
  ToolCall,
  ToolCallResult,
  Usage,
} from "./task-context.ts";

/** Declares a skill with its own `run`, so that `task.data` has the output type of the skill's schema. */
export function skill<const Schema extends StandardSchemaV1 | undefined = undefined>(
  definition: Skill<Schema>,
): Skill<Schema> {
  return definition;
}

/** A copy of a declared agent: `agent({ ...other, name: "Another" })`. */
interface DeclaredBefore {
  readonly id: string;
}
interface HasReply {
  readonly reply: unknown;
}
interface HasSkills {
  readonly skills: readonly unknown[];
}
/** Every agent needs `run`, unless `reply` answers every message or its skills have a `run` of their own. */
interface HasRun {
  readonly run: unknown;
}
export type Handler = DeclaredBefore | HasReply | HasSkills | HasRun;

/**
 * Declares an agent. Throws a `TypeError` that lists all problems of the declaration and how to fix them. `palaver` exports a function of the same
 * name that also accepts a card.
 */
export function agent<Produced>(declaration: AgentDefinition<Produced> & Handler): Agent {
  // Safe cast: what `run` produces is of no concern here.
  const definition = declaration as AgentDefinition;
  const id = definition.id ?? slug(definition.name);
  const problems = definitionProblems(definition, id);
  if (problems.length > 0) throw new TypeError(`agent(): ${problems.join(" ")}`);
  return { ...definition, id };
}

function slug(name: unknown): string {
  return String(name)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 64);
}
