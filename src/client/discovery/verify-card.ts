// Verifies the signatures of agent cards (A2A 1.0 §8.4.3). Signers differ in which form of the card they sign, so each signature is
// compared with every form of `wire/card/signed-card.ts`, and only the members of the form that matches are returned.

import { canonicalJson } from "../../auth/canonical-json.ts";
import {
  type DetachedSignature,
  isSignatureOf,
  type KeySet,
  type PublicKey,
  readSignatureHeader,
  SIGNATURE_ALGORITHMS,
  type SignatureHeader,
  unusable,
} from "../../auth/detached-signature.ts";
import { createClock } from "../../internal/clock.ts";
import { type SignedForm, signedForms } from "../../wire/card/signed-card.ts";
import { abortable } from "../http/abort.ts";
import { RemoteError } from "../http/errors.ts";
import type { FetchOptions } from "../http/fetch-document.ts";
import { isPrivateWay } from "../http/safe-address.ts";
import { publishedKeys } from "./published-keys.ts";

/** Which signatures to trust. Give at least one of `jwks`, `keys` and `jwksHosts`. */
export interface CardVerification {
  /** Trusted public keys. */
  readonly jwks?: KeySet;
  /** Returns the public key of a signature; `undefined` if the signature is not trusted. */
  readonly keys?: (header: SignatureHeader) => PublicKey | undefined | Promise<PublicKey | undefined>;
  /**
   * Hosts, with port if it is not the default, whose published keys are trusted. A signature names the URL of its key (`jku`); other hosts are never
   * called.
   */
  readonly jwksHosts?: readonly string[];
  /** Accepted algorithms. Default: all supported asymmetric ones. Symmetric algorithms are never accepted. */
  readonly algorithms?: readonly string[];
}

/** A card with a valid signature. */
export interface VerifiedCard {
  /** The signed members of the card. Other members were removed. */
  readonly json: Readonly<Record<string, unknown>>;
  /** Id of the key. */
  readonly kid: string;
  /** Algorithm of the signature. */
  readonly alg: string;
  /** Which canonical form of the card was signed. */
  readonly form: SignedForm["form"];
}

/** Later signatures are ignored: each one may cost a request and several verifications. */
const MAX_SIGNATURES = 16;

/**
 * Verifies that a card, parsed from JSON, is signed with a trusted key. Rejects with `invalid-signature`, with the problem of each signature, if it is
 * not. Use only the returned `json`: other members are not signed.
 */
export function verifyCard(
  card: Readonly<Record<string, unknown>>,
  verification: CardVerification,
  options: FetchOptions = {},
): Promise<VerifiedCard> {
  return abortable(options.signal, () => verified(card, verification, options));
}

/** One valid signature is sufficient (A2A 1.0 §8.4.3); the reasons of all others are collected for the error. */
async function verified(
  card: Readonly<Record<string, unknown>>,
  verification: CardVerification,
  options: FetchOptions,
): Promise<VerifiedCard> {
  const signatures = signaturesOf(card);
  if (signatures.length === 0) throw new RemoteError("invalid-signature", "The agent card is not signed.");
  const payloads = payloadsOf(card);
  const reasons: string[] = [];
  for (const [index, signature] of signatures.entries()) {
    try {
      const header = headerOf(signature, verification);
      const form = await matchingForm(signature, { header, payloads, verification, options });
      if (form !== undefined) return { json: form.json, form: form.form, kid: header.kid, alg: header.alg };
      reasons.push(`signatures[${index}]: it is not that of this card`);
    } catch (error) {
      if (error instanceof RemoteError && (error.code === "aborted" || error.code === "timeout")) throw error;
      reasons.push(`signatures[${index}]: ${error instanceof Error ? error.message : "it cannot be read"}`);
    }
  }
  throw new RemoteError("invalid-signature", `No signature of the agent card is valid: ${reasons.join("; ")}.`);
}

function signaturesOf(card: Readonly<Record<string, unknown>>): readonly DetachedSignature[] {
  const listed = card["signatures"] ?? [];
  if (!Array.isArray(listed)) throw new RemoteError("invalid-card", "`signatures` of the agent card must be a list.");
  return listed.slice(0, MAX_SIGNATURES).filter(isSignature);
}

function isSignature(value: unknown): value is DetachedSignature {
  if (typeof value !== "object" || value === null || !("protected" in value && "signature" in value)) return false;
  if ("header" in value && (typeof value.header !== "object" || value.header === null)) return false;
  return typeof value.protected === "string" && typeof value.signature === "string";
}

/** A form of the card, with its canonical JSON (RFC 8785), which is what a signature covers. */
interface Payload extends SignedForm {
  readonly text: string;
}

function payloadsOf(card: Readonly<Record<string, unknown>>): readonly Payload[] {
  try {
    // Check the nesting depth before any recursive function reads the card.
    canonicalJson(card);
    const payloads = signedForms(card).map((form) => ({ ...form, text: canonicalJson(form.json) }));
    // The forms are often equal: keep each text once.
    return payloads.filter(({ text }, index) => payloads.findIndex((other) => other.text === text) === index);
  } catch (error) {
    throw new RemoteError(
      "invalid-card",
      "The agent card cannot be verified: it contains JSON that has no canonical form (RFC 8785).",
      { cause: error },
    );
  }
}

/** Throws if the algorithm is not accepted. The message becomes part of `invalid-signature`. */
function headerOf(
  signature: DetachedSignature,
  { algorithms = SIGNATURE_ALGORITHMS }: CardVerification,
): SignatureHeader {
  const header = readSignatureHeader(signature);
  const isKnown = SIGNATURE_ALGORITHMS.some((known) => known === header.alg);
  if (!isKnown || !algorithms.includes(header.alg)) throw new Error("its algorithm is not accepted");
  return header;
}

interface Matching {
  readonly header: SignatureHeader;
  readonly payloads: readonly Payload[];
  readonly verification: CardVerification;
  readonly options: FetchOptions;
}

/** `undefined` if the signature is of another text. Throws if its key is not trusted. */
async function matchingForm(signature: DetachedSignature, matching: Matching): Promise<SignedForm | undefined> {
  const { header, payloads } = matching;
  const keys = await keysFor(matching);
  if (keys.length === 0) throw new Error("its key is not a trusted key");
  for (const key of keys) {
    for (const payload of payloads) {
      if (await isSignatureOf(signature, payload.text, { key, algorithms: [header.alg] })) return payload;
    }
  }
  return undefined;
}

/** The trusted keys with the key id of the signature. Throws if keys have this id and none of them may be used. */
async function keysFor({ header, verification, options }: Matching): Promise<readonly PublicKey[]> {
  const own = await verification.keys?.(header);
  if (own !== undefined) return [own];
  const published = [...(verification.jwks?.keys ?? []), ...(await fetchKeys(header, verification, options))];
  const named = published.filter(({ kid }) => kid === header.kid);
  const { clock = createClock() } = options;
  const faults = named.map((key) => unusable(key, header.alg, clock.now()));
  const usable = named.filter((_key, index) => faults[index] === undefined);
  const [fault] = faults;
  if (usable.length === 0 && fault !== undefined) throw new Error(fault);
  return usable;
}

/** Empty if the signature names no URL, a key with this id is given, or the host is not trusted: an untrusted host is never called. */
async function fetchKeys(
  { jku, kid }: SignatureHeader,
  { jwks, jwksHosts = [] }: CardVerification,
  options: FetchOptions,
): Promise<KeySet["keys"]> {
  if (jku === undefined || jwks?.keys.some((key) => key.kid === kid) === true) return [];
  const url = URL.canParse(jku) ? new URL(jku) : undefined;
  if (url === undefined || !jwksHosts.includes(url.host) || !isPrivateWay(url)) return [];
  return publishedKeys(kid, { url, hosts: jwksHosts }, options);
}
