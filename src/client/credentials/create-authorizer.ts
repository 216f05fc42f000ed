import type { AgentCard, SecurityRequirement, SecurityScheme } from "../../protocol/card.ts";
import { abortable } from "../http/abort.ts";
import type { Authorize } from "../http/contract.ts";
import { RemoteError } from "../http/errors.ts";
import type { FetchOptions } from "../http/fetch-document.ts";
import type { CredentialSet, Credentials } from "./contract.ts";
import { type Proof, proofFor, undeclaredProofs } from "./proof.ts";

/** Adds the credentials that one agent's card requires. */
export interface Authorizer {
  readonly authorize: Authorize;
  /**
   * Gets the tokens that need a user's consent, so that the first call does not have to wait. Resolves at once if none do.
   */
  prepare(signal?: AbortSignal): Promise<void>;
}

/**
 * Chooses the first of the card's security requirements that the credentials satisfy completely. Throws `no-credentials`, with the requirements, if
 * they satisfy none. No error contains the value of a credential.
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

/** The same for an agent whose card is not known: sends the credentials whose place is clear without a card. */
export function createUndeclaredAuthorize(credentials: Credentials, fetching: FetchOptions = {}): Authorize {
  if (typeof credentials === "function") return credentials;
  return authorizeBy(undeclaredProofs(credentials, fetching));
}

/** The first attempt of a call sends the current values, the second attempt replaced ones. */
function authorizeBy(proofs: readonly Proof[]): Authorize {
  // By call: each call has its own signal, and repeats it for the second attempt.
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

/** The credentials after a rejection; `undefined` if there are no others. The agent does not say which of several it rejected. */
async function replaced(
  proofs: readonly Proof[],
  before: readonly string[],
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const values = await Promise.all(proofs.map((proof, index) => proof.replace(before[index] ?? "", signal)));
  if (values.every((value) => value === undefined)) return undefined;
  return values.map((value, index) => value ?? before[index] ?? "");
}

/**
 * The requirements of a card are alternatives, each with schemes that are all required. A card without security gets what needs no
 * declaration.
 */
function proofsFor(card: AgentCard, credentials: CredentialSet, fetching: FetchOptions): readonly Proof[] {
  const alternatives = requirementsOf(card);
  if (alternatives.length === 0) return undeclaredProofs(credentials, fetching);
  // Anonymous access is the last choice: a caller with credentials wants to use them.
  const inOrder = [...alternatives.filter(isDemanding), ...alternatives.filter((each) => !isDemanding(each))];
  for (const requirement of inOrder) {
    const proofs = proofsOf(requirement, card, { credentials, fetching });
    if (proofs !== undefined) return proofs;
  }
  throw new RemoteError(
    "no-credentials",
    `The agent "${card.name}" requires ${describeRequirements(card)}. The given credentials do not satisfy that.`,
  );
}

function isDemanding(requirement: SecurityRequirement): boolean {
  return Object.keys(requirement).length > 0;
}

/** The caller's credentials, and how to fetch tokens with them. */
interface Means {
  readonly credentials: CredentialSet;
  readonly fetching: FetchOptions;
}

/** `undefined` if one of the schemes is unknown or the credentials do not satisfy it. */
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

/** The alternative requirements of a card. A card that only declares schemes accepts any one of them. */
function requirementsOf({ security, securitySchemes = {} }: AgentCard): readonly SecurityRequirement[] {
  if (security !== undefined && security.length > 0) return security;
  return Object.keys(securitySchemes).map((name) => Object.fromEntries([[name, []]]));
}

/**
 * Describes in one sentence which credentials a card requires: `key (a key in the header X-Key), or login (OAuth 2, clientCredentials)`.
 */
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
  const kind = scheme === undefined ? "an unknown scheme" : describeKind(scheme);
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
