import type { AgentCard, SecurityRequirement, SecurityScheme } from "../../protocol/card.ts";
import { abortable } from "../http/abort.ts";
import type { Authorize } from "../http/contract.ts";
import { RemoteError } from "../http/errors.ts";
import type { FetchOptions } from "../http/fetch-document.ts";
import type { CredentialSet, Credentials } from "./contract.ts";
import { type Proof, proofFor, undeclaredProofs } from "./proof.ts";

export interface Authorizer {
  readonly authorize: Authorize;
  /**
   * Gets what takes a person to agree, if anything does, before the first call would have to wait for it. Resolves at once
   * where nothing does.
   */
  prepare(signal?: AbortSignal): Promise<void>;
}

/**
 * Meets what a card requires with the credentials that there are: the first of its alternatives that they are enough for, and all of
 * that. Throws `no-credentials`, saying what is required, where they are enough for none. Values of credentials are in no
 * message.
 */
export function createAuthorizer(card: AgentCard, credentials: Credentials, fetching: FetchOptions = {}): Authorizer {
  if (typeof credentials === "function") return { authorize: credentials, prepare: async () => {} };
  const proofs = proofsFor(card, credentials, fetching);
  return {
    authorize: authorizeBy(proofs),
    prepare: (signal = new AbortController().signal) =>
      abortable(signal, async () => {
        for (const proof of proofs) if (proof.isInteractive === true) await proof.value(signal);
      }),
  };
}

/** The same for an agent of which no card is known: shows what goes where it goes without being told. */
export function createUndeclaredAuthorize(credentials: Credentials, fetching: FetchOptions = {}): Authorize {
  if (typeof credentials === "function") return credentials;
  return authorizeBy(undeclaredProofs(credentials, fetching));
}

function authorizeBy(proofs: readonly Proof[]): Authorize {
  // By the call they were shown in: each has a signal of its own, which is the same when it is repeated.
  const shown = new WeakMap<AbortSignal, readonly string[]>();
  return async (request, { signal, challenge }) => {
    const before = challenge === undefined ? undefined : shown.get(signal);
    const values = await abortable(signal, () =>
      before === undefined ? current(proofs, signal) : replaced(proofs, before, signal),
    );
    if (values === undefined || values.length === 0) return false;
    shown.set(signal, values);
    for (const [index, proof] of proofs.entries()) proof.show(request, values[index] ?? "");
    return true;
  };
}

function current(proofs: readonly Proof[], signal: AbortSignal): Promise<readonly string[]> {
  return Promise.all(proofs.map((proof) => proof.value(signal)));
}

/** What to show after a refusal; `undefined` where there is nothing new. Which of several was refused is not told. */
async function replaced(
  proofs: readonly Proof[],
  before: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const values = await Promise.all(proofs.map((proof, index) => proof.replace(before[index] ?? "", signal)));
  if (values.every((value) => value === undefined)) return undefined;
  return values.map((value, index) => value ?? before[index] ?? "");
}

function proofsFor(card: AgentCard, credentials: CredentialSet, fetching: FetchOptions): readonly Proof[] {
  const alternatives = requirementsOf(card);
  if (alternatives.length === 0) return undeclaredProofs(credentials, fetching);
  // To show nothing is the last choice, also where it is enough: who has credentials wants to be known.
  const inOrder = [...alternatives.filter(isDemanding), ...alternatives.filter((each) => !isDemanding(each))];
  for (const requirement of inOrder) {
    const proofs = proofsOf(requirement, card, { credentials, fetching });
    if (proofs !== undefined) return proofs;
  }
  throw new RemoteError(
    "no-credentials",
    `The agent "${card.name}" requires ${describeRequirements(card)}. The credentials given are not enough for that.`,
  );
}

function isDemanding(requirement: SecurityRequirement): boolean {
  return Object.keys(requirement).length > 0;
}

interface Means {
  readonly credentials: CredentialSet;
  readonly fetching: FetchOptions;
}

/** `undefined` where one of the schemes cannot be met, or is not known. */
function proofsOf(requirement: SecurityRequirement, card: AgentCard, means: Means): readonly Proof[] | undefined {
  const proofs: Proof[] = [];
  for (const [name, scopes] of Object.entries(requirement)) {
    const scheme = schemeOf(card, name);
    const proof = scheme && proofFor({ name, scheme, scopes }, means.credentials, means.fetching);
    if (proof === undefined) return undefined;
    proofs.push(proof);
  }
  return proofs;
}

function schemeOf({ securitySchemes = {} }: AgentCard, name: string): SecurityScheme | undefined {
  return Object.hasOwn(securitySchemes, name) ? securitySchemes[name] : undefined;
}

/** The alternatives of a card. One that only declares schemes leaves the choice among them. */
function requirementsOf({ security, securitySchemes = {} }: AgentCard): readonly SecurityRequirement[] {
  if (security !== undefined && security.length > 0) return security;
  return Object.keys(securitySchemes).map((name) => Object.fromEntries([[name, []]]));
}

/** What a card requires, in words. */
export function describeRequirements(card: AgentCard): string {
  const alternatives = requirementsOf(card).map((requirement) => {
    const schemes = Object.entries(requirement).map(([name, scopes]) =>
      describeScheme(name, schemeOf(card, name), scopes),
    );
    return schemes.join(" and ") || "nothing";
  });
  return alternatives.join(", or ") || "nothing";
}

function describeScheme(name: string, scheme: SecurityScheme | undefined, scopes: readonly string[]): string {
  const kind = scheme === undefined ? "which is not known here" : describeKind(scheme);
  return `${name} (${kind}${scopes.length > 0 ? ` with ${scopes.join(" ")}` : ""})`;
}

function describeKind(scheme: SecurityScheme): string {
  switch (scheme.type) {
    case "apiKey":
      return `a key in the ${scheme.in} ${scheme.name}`;
    case "http":
      return `HTTP ${scheme.scheme}`;
    case "oauth2":
      return `OAuth 2, ${Object.keys(scheme.flows).join(", ") || "no flow named"}`;
    case "openIdConnect":
      return "OpenID Connect";
    case "mutualTLS":
      return "a client certificate";
  }
}
