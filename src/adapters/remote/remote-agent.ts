import { type ConnectOptions, connect } from "../../client/connect.ts";
import { type Agent, type AgentDefinition, agent } from "../../engine/agent.ts";
import type { AgentSkill } from "../../protocol/card.ts";
import { Relay } from "./relay.ts";

/** What a card says of an agent that passes everything on: its extensions have this among them, with the address in `params.url`. */
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
  const inputModes = modesOf(card.defaultInputModes);
  const outputModes = modesOf(card.defaultOutputModes);
  return agent({
    name: card.name,
    description: card.description || card.name,
    version: card.version || "0",
    skills: skillsOf(card.skills),
    ...(inputModes !== undefined && { inputModes }),
    ...(outputModes !== undefined && { outputModes }),
    ...own,
    extensions: [
      {
        uri: RELAYED,
        description: "Passes everything on to the agent at this address.",
        params: { url: remote.interface.url },
      },
    ],
    // A question may be parked for days: whoever gives it up meanwhile gives it up over there as well.
    onCancel: "resume",
    run: (task) => new Relay(remote, task).run(),
  });
}

const MEDIA_TYPE = /^[\w!#$&^.+*-]+\/[\w!#$&^.+*-]+(?:\s*;.*)?$/;

/** Declared modes bind, so those that are not understood would shut callers out: then none are declared. */
function modesOf(modes: readonly string[] | undefined): readonly string[] | undefined {
  // Early cards name no more than the kind.
  const spelled = modes?.map((mode) => (mode === "text" ? "text/plain" : mode)) ?? [];
  return spelled.length > 0 && spelled.every((mode) => MEDIA_TYPE.test(mode)) ? spelled : undefined;
}

/** Cards of strangers are not always complete. */
function skillsOf(skills: readonly AgentSkill[]): readonly AgentSkill[] {
  const byId = new Map<string, AgentSkill>();
  for (const { security: _, inputModes, outputModes, ...skill } of skills) {
    if (skill.id === "" || byId.has(skill.id)) continue;
    const reads = modesOf(inputModes);
    const writes = modesOf(outputModes);
    byId.set(skill.id, {
      ...skill,
      name: skill.name || skill.id,
      description: skill.description || skill.name || skill.id,
      ...(reads !== undefined && { inputModes: reads }),
      ...(writes !== undefined && { outputModes: writes }),
    });
  }
  return [...byId.values()];
}
