import type { Agent } from "../engine/agent.ts";
import type { AgentInterface } from "../protocol/card.ts";

/** What a server has, as far as cards may promise it. */
export interface Wiring {
  /** What it serves every agent by. */
  readonly interfaces: readonly Pick<AgentInterface, "binding" | "protocolVersion">[];
  /** It finds out who calls. */
  readonly authenticates: boolean;
}

/** A promise this server could not keep. */
export interface UnwiredDeclaration {
  /** Where the agent makes it. */
  readonly field: string;
  /** Why it cannot be kept and what to do, in a sentence or two. */
  readonly problem: string;
}

/** Everything an agent declares that is not wired here: a card must not promise what callers would then ask for in vain. */
export function unwiredDeclarations(agent: Agent, wiring: Wiring): readonly UnwiredDeclaration[] {
  return [...capabilities(agent), ...security(agent, wiring), ...interfaces(agent, wiring), ...signatures(agent)];
}

function* capabilities({ capabilities: declared = {}, extendedCard }: Agent): Iterable<UnwiredDeclaration> {
  if (declared.pushNotifications === true) {
    yield {
      field: "capabilities.pushNotifications",
      problem: "this server sends no push notifications. Set it to false.",
    };
  }
  if (declared.extendedAgentCard === true && extendedCard === undefined) {
    yield {
      field: "capabilities.extendedAgentCard",
      problem:
        "there is no extended card. Declare one as `extendedCard`, or set it (or supportsAuthenticatedExtendedCard) to false.",
    };
  }
}

function* security(agent: Agent, { authenticates }: Wiring): Iterable<UnwiredDeclaration> {
  if (authenticates) return;
  const secured = [
    ["securitySchemes", Object.keys(agent.securitySchemes ?? {}).length],
    ["security", agent.security?.length],
    ...(agent.skills ?? []).map((skill, index) => [`skills[${index}].security`, skill.security?.length] as const),
  ] as const;
  for (const [field, count = 0] of secured) {
    if (count === 0) continue;
    yield { field, problem: "nobody finds out who calls. Give the server `authenticate`, or take it out." };
  }
  if (agent.extendedCard === undefined) return;
  yield {
    field: "extendedCard",
    problem: "only callers who have said who they are may read it, and nobody can. Give the server `authenticate`.",
  };
}

function* interfaces({ promises }: Agent, wiring: Wiring): Iterable<UnwiredDeclaration> {
  for (const { field, binding, protocolVersion } of promises?.interfaces ?? []) {
    const bound = wiring.interfaces.filter((served) => served.binding === binding);
    if (bound.length === 0) {
      const bindings = listed(wiring.interfaces.map((served) => served.binding));
      yield { field, problem: `${binding} is not served here; what is: ${bindings}. Take it out.` };
      continue;
    }
    if (protocolVersion === undefined) continue;
    const [version] = /^\d+\.\d+/.exec(protocolVersion) ?? [];
    if (bound.some((served) => served.protocolVersion === version)) continue;
    const versions = listed(bound.map((served) => served.protocolVersion));
    yield {
      field,
      problem: `version ${protocolVersion} over ${binding} is not spoken here; what is: ${versions}. Correct it, or take it out.`,
    };
  }
}

function* signatures({ promises }: Agent): Iterable<UnwiredDeclaration> {
  if (promises?.isSigned !== true) return;
  yield {
    field: "signatures",
    problem: "they are of another card than the ones served here, whose addresses are this server's. Take them out.",
  };
}

function listed(names: readonly string[]): string {
  return [...new Set(names)].join(", ");
}
