import { withRealm } from "../auth/verify/challenge.ts";
import type { ChallengeProblem, CredentialSource, Verified, Verifier } from "../auth/verify/contract.ts";
import { CredentialsRefused, refusalOf } from "../auth/verify/refusal.ts";
import type { Agent } from "../engine/agent/agent.ts";
import type { SecurityRequirement, SecurityScheme } from "../protocol/card.ts";
import { A2AError } from "../protocol/error.ts";
import type { Principal } from "../protocol/principal.ts";
import { type Policy, policyProblems } from "./policy.ts";
import { checkRequirements, metSchemes, type SchemeResult } from "./security-requirements.ts";

/** How callers authenticate, and what they may do. */
export interface SecurityOptions {
  /** The ways to authenticate, by the names that cards give them. */
  readonly schemes: Readonly<Record<string, Verifier>>;
  /** Requirements for agents that declare no `security`; one of them must be met. Default: any one of the schemes. `{}` allows anonymous callers. */
  readonly require?: readonly SecurityRequirement[];
  /** `private`: only callers who may call the agent can read its card. Default `public`. */
  readonly cards?: "public" | "private";
  /** All policies that apply to a call must be satisfied. Default: none. */
  readonly policies?: readonly Policy[];
  /** The realm in `WWW-Authenticate`. Default `palaver`. */
  readonly realm?: string;
}

/** Authentication and authorization, as operations use them. */
export interface Security {
  readonly policies: readonly Policy[];
  readonly hasPrivateCards: boolean;
  /** The schemes as cards declare them. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>;
  /** The agent with the schemes and requirements of this server, for its card. */
  declare(agent: Agent): Agent;
  /** The caller of a request. Rejects with `unauthenticated`, `permission-denied`, or `unavailable` if the credentials cannot be verified now. */
  authenticate(request: CredentialSource, requirements: readonly SecurityRequirement[]): Promise<Principal>;
  /** The `WWW-Authenticate` values for these schemes. Default: for all schemes. */
  challenges(schemes?: readonly string[], problem?: ChallengeProblem): readonly string[];
}

/** Scheme names that are valid on every card. They contain no colon, which separates the scheme from the caller's id. */
const SCHEME_NAME = /^[A-Za-z0-9._-]{1,64}$/;

/** Throws a `TypeError` for invalid options. */
export function createSecurity(options: SecurityOptions): Security {
  const { policies = [], realm = "palaver", cards = "public" } = options;
  const schemes = new Map(Object.entries(options.schemes));
  const required = options.require ?? [...schemes.keys()].map((name) => ({ [name]: [] }));
  check(schemes, required);
  for (const [index, policy] of policies.entries()) {
    for (const problem of policyProblems(policy)) throw new TypeError(`security.policies[${index}].${problem}`);
  }
  const declared = Object.fromEntries([...schemes].map(([name, { scheme }]) => [name, scheme]));

  const challenges: Security["challenges"] = (names = [...schemes.keys()], problem) => {
    const asked = names.flatMap((name) => schemes.get(name)?.challenge(problem) ?? []);
    return [...new Set(asked.map((challenge) => withRealm(challenge, realm)))];
  };
  return {
    policies,
    hasPrivateCards: cards === "private",
    schemes: declared,
    challenges,
    declare(agent) {
      const security = agent.security === undefined || agent.security.length === 0 ? required : agent.security;
      return { ...agent, securitySchemes: { ...agent.securitySchemes, ...declared }, security };
    },
    async authenticate(request, requirements) {
      const results = new Map<string, SchemeResult>();
      for (const [name, verifier] of schemes) results.set(name, await verifyScheme(verifier, request));
      return decide(results, { requirements, challenges });
    },
  };
}

/** The request headers that carry credentials. */
export function credentialHeaders({ schemes }: Pick<Security, "schemes">): readonly string[] {
  const headers = Object.values(schemes).flatMap((scheme) => {
    if (scheme.type === "mutualTLS") return [];
    if (scheme.type !== "apiKey") return ["Authorization"];
    return scheme.in === "header" ? [scheme.name] : scheme.in === "cookie" ? ["Cookie"] : [];
  });
  return [...new Set(headers)];
}

function check(schemes: ReadonlyMap<string, Verifier>, required: readonly SecurityRequirement[]): void {
  if (schemes.size === 0) throw new TypeError("security.schemes: must not be empty.");
  for (const name of schemes.keys()) {
    if (SCHEME_NAME.test(name)) continue;
    throw new TypeError(
      `security.schemes: ${JSON.stringify(name)} must be 1–64 letters, digits, dots, dashes or underscores.`,
    );
  }
  if (required.length === 0)
    throw new TypeError(
      "security.require: an empty list would refuse every caller; use [{}] to allow anonymous callers.",
    );
  for (const name of required.flatMap((requirement) => Object.keys(requirement))) {
    if (!schemes.has(name)) throw new TypeError(`security.require: the scheme ${JSON.stringify(name)} does not exist.`);
  }
}

async function verifyScheme(verifier: Verifier, request: CredentialSource): Promise<SchemeResult> {
  try {
    const verified = await verifier.verify(request);
    // Without an id, all these callers would be the same caller.
    if (verified !== undefined && (typeof verified.id !== "string" || verified.id === "")) {
      throw new TypeError("A verifier accepted a caller without an id.");
    }
    return verified === undefined ? { kind: "absent" } : { kind: "valid", verified };
  } catch (error) {
    return error instanceof A2AError && error.code === "unauthenticated"
      ? { kind: "invalid", reason: refusalOf(error)?.reason ?? "other" }
      : { kind: "unverifiable", error };
  }
}

interface Terms {
  readonly requirements: readonly SecurityRequirement[];
  readonly challenges: Security["challenges"];
}

/**
 * Accepts the caller if one requirement is met, whatever other credentials it sends. Rejects invalid credentials even if anonymous callers are
 * allowed: the caller would act as somebody else than it expects.
 */
function decide(byScheme: ReadonlyMap<string, SchemeResult>, { requirements, challenges }: Terms): Principal {
  const met = metSchemes(byScheme);
  const outcome = checkRequirements(requirements, met);
  const isAnonymous = Object.keys(met).length === 0;
  const results = [...byScheme.values()];
  if (
    outcome.kind === "met" &&
    !(isAnonymous && results.some(({ kind }) => kind === "invalid" || kind === "unverifiable"))
  ) {
    return principalOf(byScheme, Object.keys(outcome.by));
  }
  if (outcome.kind === "scopes") {
    const { schemes, missing } = outcome;
    throw new A2AError("permission-denied", "The credentials do not grant the required scopes", {
      challenges: challenges(schemes, { error: "insufficient_scope", scopes: missing }),
      cause: new CredentialsRefused("insufficient-scope", { details: `insufficient-scope (${missing.join(" ")})` }),
    });
  }
  const unknown = results.find(({ kind }) => kind === "unverifiable");
  if (unknown?.kind === "unverifiable") {
    if (unknown.error instanceof A2AError && unknown.error.code === "unavailable") throw unknown.error;
    throw new A2AError("unavailable", "Credentials cannot be verified now", { cause: unknown.error });
  }
  const asked = [...new Set(requirements.flatMap((requirement) => Object.keys(requirement)))];
  const wrong = [...byScheme].flatMap(([name, { kind }]) => (kind === "invalid" ? [name] : []));
  const names = asked.length === 0 ? wrong : asked;
  throw new A2AError("unauthenticated", wrong.length === 0 ? "Authentication is required" : "Invalid credentials", {
    // Two schemes may have the same challenge.
    challenges: [
      ...new Set(
        names.flatMap((name) => challenges([name], wrong.includes(name) ? { error: "invalid_token" } : undefined)),
      ),
    ],
    cause: refusedBy(byScheme),
  });
}

/** For the log: why each scheme refused the credentials. */
function refusedBy(byScheme: ReadonlyMap<string, SchemeResult>): CredentialsRefused {
  const refused = [...byScheme].flatMap(([name, result]) => (result.kind === "invalid" ? [{ name, ...result }] : []));
  const [first] = refused;
  if (first === undefined) return new CredentialsRefused("missing");
  return new CredentialsRefused(first.reason, {
    details: refused.map(({ name, reason }) => `${name}: ${reason}`).join(", "),
  });
}

/** The caller as identified by the first scheme of the requirement, with the scopes of all valid schemes. */
function principalOf(byScheme: ReadonlyMap<string, SchemeResult>, required: readonly string[]): Principal {
  const valid = [...byScheme].flatMap(([name, result]) =>
    result.kind === "valid" ? [[name, result.verified] as const] : [],
  );
  const schemes = metSchemes(byScheme);
  const [main, verified] = valid.find(([name]) => name === required[0]) ?? valid[0] ?? [];
  if (main === undefined || verified === undefined) return { id: "anonymous", anonymous: true, schemes };
  const { claims, credential } = verified;
  const tenant = tenantOf(valid);
  return {
    id: `${main}:${verified.id}`,
    anonymous: false,
    scopes: [...new Set(valid.flatMap(([, { scopes }]) => scopes))],
    schemes,
    ...(claims !== undefined && { claims }),
    ...(credential !== undefined && { credential }),
    ...(tenant !== undefined && { tenant }),
  };
}

function tenantOf(valid: readonly (readonly [string, Verified])[]): string | undefined {
  const tenants = new Set(valid.flatMap(([, { tenant }]) => tenant ?? []));
  if (tenants.size > 1) throw new A2AError("permission-denied", "The credentials are for different tenants");
  return [...tenants][0];
}
