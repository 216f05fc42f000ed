import { type ConnectOptions, connect } from "../../client/connect.ts";
import { type Agent, type AgentDefinition, agent } from "../../engine/agent/agent.ts";
import type { AgentSkill } from "../../protocol/card.ts";
import { Relay } from "./relay.ts";

/** The extension by which a card says that its agent passes everything on to another one. It does not say where that is. */
export const RELAYED = "urn:palaver:extension:relayed";

export interface RemoteAgentOptions extends ConnectOptions {
  /** What is said of the agent here, instead of what its own card says. */
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
 * An agent that passes everything on to one somewhere else, found by its address or its card. Throws a `RemoteError` where there is
 * none to be found. What the remote agent wants its callers to show is this side's to show, by `credentials`; it is not asked of
 * those who call here.
 */
export async function remoteAgent(address: string | URL | object, options: RemoteAgentOptions = {}): Promise<Agent> {
  const { agent: own, ...connecting } = options;
  const remote = await connect(address, connecting);
  const { card } = remote;
  return agent({
    name: card.name,
    description: card.description || card.name,
    version: card.version || "0",
    skills: skillsOf(card.skills),
    inputModes: modesOf(card.defaultInputModes),
    outputModes: modesOf(card.defaultOutputModes),
    ...own,
    extensions: [
      {
        uri: RELAYED,
        description: "Passes everything on to another agent.",
      },
    ],
    // A question may be parked for days: whoever gives it up meanwhile gives it up over there as well.
    onCancel: "resume",
    run: (task) => new Relay(remote, task).run(),
  });
}

const MEDIA_TYPE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(?:\s*;.*)?$/;
const ANY_TYPE = "*/*";

/**
 * The declared modes, for readers of the card, and any other. Modes of an agent here bind, but those of real cards often mean nothing
 * (`application/json`, `text`, `null`): everything is passed on, and the remote agent refuses what it does not take.
 */
function modesOf(modes: readonly string[] | undefined): readonly string[] {
  // Early cards name no more than the kind.
  const written = modes?.map((mode) => (mode === "text" ? "text/plain" : mode)) ?? [];
  return [...new Set([...written.filter((mode) => MEDIA_TYPE.test(mode)), ANY_TYPE])];
}

/** Cards of strangers are not always complete. */
function skillsOf(skills: readonly AgentSkill[]): readonly AgentSkill[] {
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
