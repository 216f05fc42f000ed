import { withRealm } from "../auth/verify/challenge.ts";
import type { ChallengeProblem, CredentialSource, Verified, Verifier } from "../auth/verify/contract.ts";
import type { Agent } from "../engine/agent/agent.ts";
import type { SecurityRequirement, SecurityScheme } from "../protocol/card.ts";
import { A2AError } from "../protocol/error.ts";
import type { Principal } from "../protocol/principal.ts";
import { type Policy, policyProblems } from "./policy.ts";
import { judge, metSchemes, type Shown } from "./security-requirements.ts";

/** Who may call, and what they may do. */
export interface SecurityOptions {
  /** The ways to say who one is, by the names that cards give them. */
  readonly schemes: Readonly<Record<string, Verifier>>;
  /** What calls need where the agent itself declares no `security`: any one of these. Default: any one of the schemes. `{}` lets everybody in. */
  readonly require?: readonly SecurityRequirement[];
  /** `private`: cards are shown only to callers who may call the agent. Default `public`. */
  readonly cards?: "public" | "private";
  /** Every policy that fits a call must hold. Default: none. */
  readonly policies?: readonly Policy[];
  /** What callers are told that they authenticate for. Default `palaver`. */
  readonly realm?: string;
}

/** Security as operations use it. */
export interface Security {
  readonly policies: readonly Policy[];
  readonly hasPrivateCards: boolean;
  /** As cards declare them. */
  readonly schemes: Readonly<Record<string, SecurityScheme>>;
  /** A card of this agent declares what is required here. */
  declare(agent: Agent): Agent;
  /** Says who calls. Rejects with `unauthenticated`, `permission-denied` or, where that cannot be found out, `unavailable`. */
  authenticate(request: CredentialSource, requirements: readonly SecurityRequirement[]): Promise<Principal>;
  /** Asks for these schemes, by default for all. */
  challenges(schemes?: readonly string[], problem?: ChallengeProblem): readonly string[];
}

/** Names that mean the same on every card, and hold no colon. */
const SCHEME_NAME = /^[A-Za-z0-9._-]{1,64}$/;

/** Throws a `TypeError` for options that make no sense. */
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
      const shown = new Map<string, Shown>();
      for (const [name, verifier] of schemes) shown.set(name, await look(verifier, request));
      return decide(shown, { requirements, challenges });
    },
  };
}

/** The request headers in which callers say who they are. */
export function credentialHeaders({ schemes }: Pick<Security, "schemes">): readonly string[] {
  const headers = Object.values(schemes).flatMap((scheme) => {
    if (scheme.type === "mutualTLS") return [];
    if (scheme.type !== "apiKey") return ["Authorization"];
    return scheme.in === "header" ? [scheme.name] : scheme.in === "cookie" ? ["Cookie"] : [];
  });
  return [...new Set(headers)];
}

function check(schemes: ReadonlyMap<string, Verifier>, required: readonly SecurityRequirement[]): void {
  if (schemes.size === 0) throw new TypeError("security.schemes: there must be one at least.");
  for (const name of schemes.keys()) {
    if (SCHEME_NAME.test(name)) continue;
    throw new TypeError(
      `security.schemes: ${JSON.stringify(name)} must be 1–64 letters, digits, dots, dashes or underscores.`,
    );
  }
  if (required.length === 0)
    throw new TypeError("security.require: an empty list lets nobody in; say [{}] for everybody.");
  for (const name of required.flatMap((requirement) => Object.keys(requirement))) {
    if (!schemes.has(name)) throw new TypeError(`security.require: there is no scheme ${JSON.stringify(name)}.`);
  }
}

async function look(verifier: Verifier, request: CredentialSource): Promise<Shown> {
  try {
    const verified = await verifier.verify(request);
    // All whom a verifier of the host's cannot name would be one caller.
    if (verified !== undefined && (typeof verified.id !== "string" || verified.id === "")) {
      throw new TypeError("A verifier recognised a caller, but gave no id.");
    }
    return verified === undefined ? { kind: "nothing" } : { kind: "holds", verified };
  } catch (error) {
    return error instanceof A2AError && error.code === "unauthenticated" ? { kind: "bad" } : { kind: "unknown", error };
  }
}

interface Terms {
  readonly requirements: readonly SecurityRequirement[];
  readonly challenges: Security["challenges"];
}

/**
 * Any requirement that is met lets the caller in, whatever else it shows; but who shows only what does not hold is refused even where
 * nothing is asked for: it would act as somebody else than it thinks.
 */
function decide(shown: ReadonlyMap<string, Shown>, { requirements, challenges }: Terms): Principal {
  const met = metSchemes(shown);
  const judgement = judge(requirements, met);
  const isAnonymous = Object.keys(met).length === 0;
  const results = [...shown.values()];
  if (judgement.kind === "met" && !(isAnonymous && results.some(({ kind }) => kind === "bad" || kind === "unknown"))) {
    return principalOf(shown, Object.keys(judgement.by));
  }
  if (judgement.kind === "scopes") {
    const { schemes, missing } = judgement;
    throw new A2AError("permission-denied", "The credentials do not grant the scopes that are needed", {
      challenges: challenges(schemes, { error: "insufficient_scope", scopes: missing }),
    });
  }
  const unknown = results.find(({ kind }) => kind === "unknown");
  if (unknown?.kind === "unknown") {
    if (unknown.error instanceof A2AError && unknown.error.code === "unavailable") throw unknown.error;
    throw new A2AError("unavailable", "Credentials cannot be verified now", { cause: unknown.error });
  }
  const asked = [...new Set(requirements.flatMap((requirement) => Object.keys(requirement)))];
  const wrong = [...shown].flatMap(([name, { kind }]) => (kind === "bad" ? [name] : []));
  const names = asked.length === 0 ? wrong : asked;
  throw new A2AError("unauthenticated", wrong.length === 0 ? "Authentication is required" : "Invalid credentials", {
    // Two schemes may ask for the same in the same words.
    challenges: [
      ...new Set(
        names.flatMap((name) => challenges([name], wrong.includes(name) ? { error: "invalid_token" } : undefined)),
      ),
    ],
  });
}

/** The caller as the first scheme of the requirement knows it; what other schemes grant counts as well. */
function principalOf(shown: ReadonlyMap<string, Shown>, required: readonly string[]): Principal {
  const holding = [...shown].flatMap(([name, result]) =>
    result.kind === "holds" ? [[name, result.verified] as const] : [],
  );
  const schemes = metSchemes(shown);
  const [main, verified] = holding.find(([name]) => name === required[0]) ?? holding[0] ?? [];
  if (main === undefined || verified === undefined) return { id: "anonymous", anonymous: true, schemes };
  const { claims, credential } = verified;
  const tenant = tenantOf(holding);
  return {
    id: `${main}:${verified.id}`,
    anonymous: false,
    scopes: [...new Set(holding.flatMap(([, { scopes }]) => scopes))],
    schemes,
    ...(claims !== undefined && { claims }),
    ...(credential !== undefined && { credential }),
    ...(tenant !== undefined && { tenant }),
  };
}

function tenantOf(holding: readonly (readonly [string, Verified])[]): string | undefined {
  const tenants = new Set(holding.flatMap(([, { tenant }]) => tenant ?? []));
  if (tenants.size > 1) throw new A2AError("permission-denied", "The credentials are for different tenants");
  return [...tenants][0];
}
