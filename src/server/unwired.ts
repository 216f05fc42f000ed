import { isDeepStrictEqual } from "node:util";
import type { Agent } from "../engine/agent/agent.ts";
import type { AgentInterface, SecurityRequirement, SecurityScheme } from "../protocol/card.ts";

/** What a server has, as far as cards may promise it. */
export interface Wiring {
  /** What it serves every agent by. */
  readonly interfaces: readonly Pick<AgentInterface, "binding" | "protocolVersion">[];
  /** It finds out who calls. */
  readonly authenticates: boolean;
  /** It notifies who wants to be notified. Default true. */
  readonly pushes?: boolean | undefined;
  /** How it does, by the names that cards give to it. Absent: in a way of the host's own. */
  readonly schemes?: Readonly<Record<string, SecurityScheme>> | undefined;
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
  return [
    ...capabilities(agent, wiring),
    ...security(agent, wiring),
    ...interfaces(agent, wiring),
    ...signatures(agent),
  ];
}

function* capabilities(agent: Agent, { pushes }: Wiring): Iterable<UnwiredDeclaration> {
  const { capabilities: declared = {}, extendedCard } = agent;
  if (declared.pushNotifications === true && pushes === false) {
    yield {
      field: "capabilities.pushNotifications",
      problem: "this server is told to send no push notifications. Set it to false, or let the server send them.",
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

function* security(agent: Agent, { authenticates, schemes }: Wiring): Iterable<UnwiredDeclaration> {
  if (authenticates) {
    yield* namedSchemes(agent, schemes);
    return;
  }
  const secured = [
    ["securitySchemes", Object.keys(agent.securitySchemes ?? {}).length],
    ["security", agent.security?.length],
    ...(agent.skills ?? []).map((skill, index) => [`skills[${index}].security`, skill.security?.length] as const),
  ] as const;
  for (const [field, count = 0] of secured) {
    if (count === 0) continue;
    yield {
      field,
      problem: "nobody finds out who calls. Give the server `security` or `authenticate`, or take it out.",
    };
  }
  if (agent.extendedCard === undefined) return;
  yield {
    field: "extendedCard",
    problem:
      "only callers who have said who they are may read it, and nobody can. Give the server `security` or `authenticate`.",
  };
}

/** What an agent requires must be something that is looked at: by the server, or by an authenticator that knows the agent's own schemes. */
function* namedSchemes(agent: Agent, served: Wiring["schemes"]): Iterable<UnwiredDeclaration> {
  const own = agent.securitySchemes ?? {};
  for (const [name, scheme] of Object.entries(served === undefined ? {} : own)) {
    const field = `securitySchemes.${name}`;
    const other = served?.[name];
    if (other === undefined) {
      yield {
        field,
        problem: `the server's \`security\` does not look at it; it has ${listed(Object.keys(served ?? {}))}.`,
      };
    } else if (!isDeepStrictEqual(scheme, other)) {
      yield { field, problem: "the server has another scheme of that name. Take it out: cards say the server's." };
    }
  }
  const known = Object.keys(served ?? own);
  const required: readonly (readonly [string, readonly SecurityRequirement[]])[] = [
    ["security", agent.security ?? []],
    ...(agent.skills ?? []).map((skill, index) => [`skills[${index}].security`, skill.security ?? []] as const),
  ];
  for (const [field, requirements] of required) {
    const missing = requirements
      .flatMap((requirement) => Object.keys(requirement))
      .filter((name) => !known.includes(name));
    if (missing.length === 0) continue;
    yield { field, problem: `there is no scheme ${listed(missing)}; there is ${listed(known) || "none"}.` };
  }
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
