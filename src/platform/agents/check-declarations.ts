import type { Agent } from "../../engine/agent/agent.ts";
import { named } from "../../server/policy.ts";
import type { Security } from "../../server/security.ts";
import { unsupportedDeclarations } from "../../server/unsupported-declarations.ts";
import { createDialects } from "../../wire/dialects.ts";
import type { DialectOptions } from "../../wire/options.ts";
import { StartupError } from "../startup-error.ts";

/** What this server can do. */
export interface DeclarationContext {
  readonly dialects: DialectOptions;
  /** The server supports gRPC. Default false. */
  readonly grpc?: boolean;
  /** The server authenticates callers. */
  readonly authenticates: boolean;
  readonly security?: Security | undefined;
  /** The server supports webhooks. Default true. */
  readonly pushes?: boolean | undefined;
}

/**
 * Throws a {@link StartupError} that lists everything that the agents declare and this server does not do. A card must not promise what
 * callers cannot get (A2A 1.0 §8.3.1), and a declared protection that nothing enforces is worse than none.
 */
export function checkDeclarations(agents: readonly Agent[], context: DeclarationContext): void {
  const { dialects, grpc = false, authenticates, security, pushes } = context;
  const { interfaces } = createDialects(dialects);
  const wiring = {
    interfaces: interfaces("", grpc ? {} : undefined),
    authenticates,
    schemes: security?.schemes,
    pushes,
  };
  const problems = agents.flatMap((agent) =>
    unsupportedDeclarations(agent, wiring).map(
      ({ field, problem }) => `Agent ${JSON.stringify(agent.id)} declares ${field}, but ${problem}`,
    ),
  );
  problems.push(...idlePolicies(agents, security));
  if (problems.length > 0) throw new StartupError("usage", problems.join("\n"));
}

/** Policies for unknown agents or skills: a typing error would leave unprotected what the policy should protect. */
function* idlePolicies(agents: readonly Agent[], security: Security | undefined): Iterable<string> {
  const ids = agents.map(({ id }) => id);
  for (const [index, { agent, skill }] of (security?.policies ?? []).entries()) {
    const place = `security.policies[${index}]`;
    const meant = agents.filter(({ id }) => agent === undefined || named(agent).includes(id));
    const skills = meant.flatMap((one) => one.skills ?? []).map(({ id }) => id);
    for (const id of named(agent).filter((name) => !ids.includes(name))) {
      yield `${place}.agent: there is no agent ${JSON.stringify(id)}. Agents: ${ids.join(", ")}.`;
    }
    for (const id of named(skill).filter((name) => !skills.includes(name))) {
      yield `${place}.skill: there is no skill ${JSON.stringify(id)}. Skills: ${skills.join(", ") || "none"}.`;
    }
  }
}
