import { isDeepStrictEqual } from "node:util";
import type { Agent } from "../engine/agent/agent.ts";
import type { AgentInterface, SecurityRequirement, SecurityScheme } from "../protocol/card.ts";

/** The features of a server that cards may announce. */
export interface ServerFeatures {
  /** The bindings and versions in which every agent is served. */
  readonly interfaces: readonly Pick<AgentInterface, "binding" | "protocolVersion">[];
  /** The server authenticates callers. */
  readonly authenticates: boolean;
  /** The server sends push notifications. Default true. */
  readonly pushes?: boolean | undefined;
  /** Schemes the server verifies, by name. Absent: a custom authenticator decides. */
  readonly schemes?: Readonly<Record<string, SecurityScheme>> | undefined;
}

/** A declaration of an agent that this server does not support. */
export interface UnsupportedDeclaration {
  /** The field of the agent's definition. */
  readonly field: string;
  /** Why it is not supported, and what to do about it. */
  readonly problem: string;
}

/** All declarations of an agent that this server does not support. A card must not announce features that callers could not use. */
export function unsupportedDeclarations(agent: Agent, features: ServerFeatures): readonly UnsupportedDeclaration[] {
  return [
    ...capabilities(agent, features),
    ...security(agent, features),
    ...interfaces(agent, features),
    ...signatures(agent),
  ];
}

function* capabilities(agent: Agent, { pushes }: ServerFeatures): Iterable<UnsupportedDeclaration> {
  const { capabilities: declared = {}, extendedCard } = agent;
  if (declared.pushNotifications === true && pushes === false) {
    yield {
      field: "capabilities.pushNotifications",
      problem: "push notifications are turned off in this server. Set it to false, or turn them on.",
    };
  }
  if (declared.extendedAgentCard === true && extendedCard === undefined) {
    yield {
      field: "capabilities.extendedAgentCard",
      problem:
        "the agent has no extended card. Declare one as `extendedCard`, or set this (or supportsAuthenticatedExtendedCard) to false.",
    };
  }
}

function* security(agent: Agent, { authenticates, schemes }: ServerFeatures): Iterable<UnsupportedDeclaration> {
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
      problem:
        "this server does not authenticate callers. Configure `security` or `authenticate`, or remove this declaration.",
    };
  }
  if (agent.extendedCard === undefined) return;
  yield {
    field: "extendedCard",
    problem:
      "only authenticated callers may read it, and this server does not authenticate callers. Configure `security` or `authenticate`.",
  };
}

/** Schemes that an agent declares or requires, and that nobody verifies: neither the server nor a custom authenticator. */
function* namedSchemes(agent: Agent, served: ServerFeatures["schemes"]): Iterable<UnsupportedDeclaration> {
  const own = agent.securitySchemes ?? {};
  for (const [name, scheme] of Object.entries(served === undefined ? {} : own)) {
    const field = `securitySchemes.${name}`;
    const other = served?.[name];
    if (other === undefined) {
      yield {
        field,
        problem: `the server's \`security\` does not verify this scheme; it verifies ${listed(Object.keys(served ?? {}))}.`,
      };
    } else if (!isDeepStrictEqual(scheme, other)) {
      yield {
        field,
        problem: "the server has a different scheme of the same name. Remove this one: cards show the server's.",
      };
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
    yield {
      field,
      problem: `the scheme ${listed(missing)} does not exist; known schemes: ${listed(known) || "none"}.`,
    };
  }
}

function* interfaces({ promises }: Agent, features: ServerFeatures): Iterable<UnsupportedDeclaration> {
  for (const { field, binding, protocolVersion } of promises?.interfaces ?? []) {
    const bound = features.interfaces.filter((served) => served.binding === binding);
    if (bound.length === 0) {
      const bindings = listed(features.interfaces.map((served) => served.binding));
      yield {
        field,
        problem: `this server does not support the binding ${binding}, only ${bindings}. Remove this interface.`,
      };
      continue;
    }
    if (protocolVersion === undefined) continue;
    const [version] = /^\d+\.\d+/.exec(protocolVersion) ?? [];
    if (bound.some((served) => served.protocolVersion === version)) continue;
    const versions = listed(bound.map((served) => served.protocolVersion));
    yield {
      field,
      problem: `this server does not support version ${protocolVersion} over ${binding}, only ${versions}. Correct or remove this interface.`,
    };
  }
}

function* signatures({ promises }: Agent): Iterable<UnsupportedDeclaration> {
  if (promises?.isSigned !== true) return;
  yield {
    field: "signatures",
    problem: "they belong to another card: the card served here has this server's URLs. Remove them.",
  };
}

function listed(names: readonly string[]): string {
  return [...new Set(names)].join(", ");
}
