import { type ConnectOptions, connect } from "../../client/connect.ts";
import { type Agent, type AgentDefinition, agent, type Skill } from "../../engine/agent/agent.ts";
import type { AgentCard, AgentSkill } from "../../protocol/card.ts";
import { inputSchemaOf } from "../../protocol/extensions.ts";
import { Relay } from "./relay.ts";

/** URI of the extension that marks an agent as a relay of another agent. The card does not reveal the other agent's address. */
export const RELAYED = "urn:palaver:extension:relayed";

/** Options of `remoteAgent`: those of `connect`, and changes to the card. */
export interface RemoteAgentOptions extends ConnectOptions {
  /** Members of the agent's definition that replace those of the remote card. Default: as in the remote card. */
  readonly agent?: Partial<
    Pick<
      AgentDefinition,
      | "id"
      | "name"
      | "description"
      | "version"
      | "inputModes"
      | "outputModes"
      | "securitySchemes"
      | "security"
      | "timeout"
      | "inputTimeout"
      | "concurrency"
      | "queue"
    >
  >;
}

/**
 * Creates an agent that relays every message to a remote agent, found by its URL or given as a card. Rejects with a `RemoteError` if the remote
 * agent cannot be found. This server authenticates to the remote agent with `credentials`; its own callers do not need them.
 */
export async function remoteAgent(address: string | URL | object, options: RemoteAgentOptions = {}): Promise<Agent> {
  const { agent: own, ...connecting } = options;
  const remote = await connect(address, connecting);
  const { card } = remote;
  const skills = skillsOf(card);
  const relay = agent({
    name: card.name,
    description: card.description || card.name,
    version: card.version || "0",
    skills,
    inputModes: modesOf(card.defaultInputModes),
    outputModes: modesOf(card.defaultOutputModes),
    ...own,
    extensions: [
      {
        uri: RELAYED,
        description: "Relays every message to another agent.",
      },
    ],
    // A question may wait for days. If the task is canceled meanwhile, the run resumes and cancels the remote task.
    onCancel: "resume",
    run: (task) => new Relay(remote, task).run(),
  });
  return { ...relay, skills: skills.map((skill) => withSchema(skill, card)) };
}

const MEDIA_TYPE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(?:\s*;.*)?$/;
const ANY_TYPE = "*/*";

/**
 * The declared media types, and any other type. This server enforces declared types, but those of real cards are often wrong (`application/json`, `text`,
 * `null`), so everything is relayed and the remote agent decides.
 */
function modesOf(modes: readonly string[] | undefined): readonly string[] {
  // Cards of early versions write `text` instead of a media type.
  const written = modes?.map((mode) => (mode === "text" ? "text/plain" : mode)) ?? [];
  return [...new Set([...written.filter((mode) => MEDIA_TYPE.test(mode)), ANY_TYPE])];
}

/** Fills in missing members of skills, and drops skills without an id of their own. */
function skillsOf({ skills }: AgentCard): readonly AgentSkill[] {
  const byId = new Map<string, AgentSkill>();
  for (const { security: _, inputModes, outputModes, ...skill } of skills) {
    if (skill.id === "" || byId.has(skill.id)) continue;
    byId.set(skill.id, {
      ...skill,
      name: skill.name || skill.id,
      description: skill.description || skill.name || skill.id,
      ...(inputModes !== undefined && { inputModes: modesOf(inputModes) }),
      ...(outputModes !== undefined && { outputModes: modesOf(outputModes) }),
    });
  }
  return [...byId.values()];
}

/** Publishes the schema that the remote card has for the skill. There is no `input`: the remote agent checks what it gets. */
function withSchema(skill: AgentSkill, card: AgentCard): Skill {
  const jsonSchema = inputSchemaOf(card, skill.id);
  return jsonSchema === undefined ? skill : { ...skill, jsonSchema };
}
