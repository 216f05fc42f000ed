import type { StandardSchemaV1 } from "@standard-schema/spec";
import { declaredBy } from "./declared-card.ts";
import type { Agent, AgentDefinition, CardDefinition, Skill } from "./definition.ts";
import { definitionProblems } from "./definition-problems.ts";

// Other folders import the types from this file only.
export type {
  Agent,
  AgentDefinition,
  CardDefinition,
  DeclaredCapabilities,
  ExtendedCard,
  InputTimeout,
  ReplyCall,
  RestartPolicy,
  Skill,
} from "./definition.ts";
export type { FileOutput, ObservableLike, Output, ReceivedFile, RunResult } from "./output-types.ts";
export { type AbortCause, TaskAborted } from "./task-aborted.ts";
export type {
  Answer,
  ArtifactOptions,
  ArtifactWriter,
  AskOptions,
  AuthOptions,
  AuthRequest,
  RunFunction,
  StepContext,
  TaskContext,
  TaskLog,
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
type Handler = DeclaredBefore | HasReply | HasSkills | HasRun;

/** Declares an agent. Throws a `TypeError` that lists all problems of the declaration and how to fix them. */
export function agent<Produced>(definition: CardDefinition<Produced> & Handler): Agent;
export function agent<Produced>(definition: AgentDefinition<Produced> & Handler): Agent;
export function agent(declaration: Handler): Agent {
  // Safe cast: the overloads above accept nothing else.
  const definition = withCard(declaration as unknown as AgentDefinition | CardDefinition);
  const id = definition.id ?? slug(definition.name);
  const problems = definitionProblems(definition, id);
  if (problems.length > 0) throw new TypeError(`agent(): ${problems.join(" ")}`);
  return { ...definition, id };
}

function withCard(declaration: AgentDefinition | CardDefinition): Omit<Agent, "id"> & { readonly id?: string } {
  if (!("card" in declaration)) return declaration;
  const { card, ...own } = declaration;
  const { definition, promises } = declaredBy(card);
  const capabilities = { ...definition.capabilities, ...own.capabilities };
  // Safe cast: `definitionProblems` reports members that are still missing.
  return { ...definition, ...own, capabilities, promises } as Omit<Agent, "id">;
}

function slug(name: unknown): string {
  return String(name)
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
    .slice(0, 64);
}
