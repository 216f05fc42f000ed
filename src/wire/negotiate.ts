import { A2AError } from "../protocol/error.ts";
import type { Choice, Codec } from "./codec.ts";

/** What a server speaks, and what it takes callers for. */
export interface SupportedVersions {
  /** Every version, newest first. */
  readonly versions: readonly string[];
  /** Those among them that a caller can name, as `Major.Minor`. At least one. */
  readonly requestable: readonly [string, ...string[]];
  /** Those whose callers have to name it. Before 1.0 there was no way to. */
  readonly headerRequired: readonly string[];
  /** The version of callers that name none, where it is spoken and their spelling allows it. */
  readonly assumed: string;
}

/** What a caller says of its version, by header or query: one that is spoken, nothing, or one that is not spoken. */
export type RequestedVersion = { readonly named: string } | "none" | "unsupported";

/** What the spelling of a request tells. */
export interface RequestForm {
  /** The versions that have this method or path, newest first. Empty: none has. */
  readonly of: readonly string[];
  /** The version whose form it follows most. */
  readonly like: string;
}

/**
 * How a request stands to the versions spoken:
 *
 * - `nameless`: it is the spelling of something that nobody can name: the spelling alone tells.
 * - `unspoken`: the caller names a version that is not spoken.
 * - `unknown`: no version has such a method.
 * - `agreed`: the version named has it.
 * - `ahead`: the version named does not have it, a later one does.
 * - `behind`: the version named does not have it, only earlier ones do.
 * - `silent`: none is named, and it is the spelling of a version whose callers need not name it.
 * - `silently ahead`: none is named, and it is the spelling of a version whose callers have to.
 */
export const RELATIONS = [
  "nameless",
  "unspoken",
  "unknown",
  "agreed",
  "ahead",
  "behind",
  "silent",
  "silently ahead",
] as const;
export type Relation = (typeof RELATIONS)[number];

/**
 * What is done: read it as the version named, or as one that has the spelling; or refuse it, because there is no such method in
 * the version named, in the one assumed or in any, or because the version is not spoken.
 */
type Verdict = "as named" | "as spelt" | "not in named" | "not in assumed" | "not found" | "not spoken";

interface Verdicts {
  /** What the server does unless told otherwise. */
  readonly usual: Verdict;
  readonly lenient: Verdict;
  readonly strict: Verdict;
}

/**
 * The decision. A version that is not spoken is refused; otherwise the spelling decides, because callers that name no version are
 * common. Where spelling and claim contradict each other, it depends on the server: by default what is ahead of its caller's
 * word is answered, for many callers of 1.0 name no version although by the protocol's rule that means 0.3.
 */
// biome-ignore format: a table is read by its columns
export const DECISIONS: Readonly<Record<Relation, Verdicts>> = {
  nameless:         { usual: "as spelt",     lenient: "as spelt",   strict: "as spelt" },
  unspoken:         { usual: "not spoken",   lenient: "not spoken", strict: "not spoken" },
  unknown:          { usual: "not found",    lenient: "not found",  strict: "not found" },
  agreed:           { usual: "as named",     lenient: "as named",   strict: "as named" },
  ahead:            { usual: "as spelt",     lenient: "as spelt",   strict: "not in named" },
  behind:           { usual: "not in named", lenient: "as spelt",   strict: "not in named" },
  silent:           { usual: "as spelt",     lenient: "as spelt",   strict: "as spelt" },
  "silently ahead": { usual: "as spelt",     lenient: "as spelt",   strict: "not in assumed" },
};

export interface Situation {
  readonly supported: SupportedVersions;
  readonly claim: RequestedVersion;
  readonly form: RequestForm;
  /** `undefined`: as the server does unless told otherwise. */
  readonly lenient: boolean | undefined;
}

/** What to do with a request: read it as this version, or refuse it in this version's form. */
export type Decision =
  | {
      readonly as: string;
      /** What its caller may speak, by all that is known: its answer should be one that readers of all of these understand. */
      readonly among: readonly string[];
    }
  | { readonly refuse: "version-not-supported" | "method-not-found"; readonly form: string };

export function decide(situation: Situation): Decision {
  const { supported, claim, form, lenient } = situation;
  const verdicts = DECISIONS[relationOf(situation)];
  const verdict = lenient === undefined ? verdicts.usual : lenient ? verdicts.lenient : verdicts.strict;
  const named = typeof claim === "string" ? form.like : claim.named;
  switch (verdict) {
    case "as named":
      return { as: named, among: [named] };
    case "as spelt":
      return { as: preferred(form.of, supported), among: form.of };
    case "not in named":
    case "not found":
      return { refuse: "method-not-found", form: named };
    case "not in assumed":
      return supported.versions.includes(supported.assumed)
        ? { refuse: "method-not-found", form: supported.assumed }
        : unsupportedVersion(supported);
    case "not spoken":
      return unsupportedVersion(supported);
  }
}

/** The newest has a form for this, if any has. */
function unsupportedVersion({ requestable }: SupportedVersions): Decision {
  return { refuse: "version-not-supported", form: requestable[0] };
}

function relationOf({ supported, claim, form }: Situation): Relation {
  if (isUnversioned(form, supported)) return "nameless";
  if (claim === "unsupported") return "unspoken";
  if (form.of.length === 0) return "unknown";
  if (claim === "none") return isHeaderRequired(form, supported) ? "silently ahead" : "silent";
  if (form.of.includes(claim.named)) return "agreed";
  const { versions } = supported;
  const at = versions.indexOf(claim.named);
  return form.of.some((version) => versions.indexOf(version) < at) ? "ahead" : "behind";
}

function isUnversioned({ of }: RequestForm, { requestable }: SupportedVersions): boolean {
  return of.length > 0 && !of.some((version) => requestable.includes(version));
}

function isHeaderRequired({ of }: RequestForm, { headerRequired }: SupportedVersions): boolean {
  return of.every((version) => headerRequired.includes(version));
}

/** Of several versions that spell alike, the one assumed, else the newest. */
function preferred(versions: readonly string[], { assumed, requestable }: SupportedVersions): string {
  return versions.includes(assumed) ? assumed : (versions[0] ?? requestable[0]);
}

/** What `A2A-Version` says: patch numbers are not looked at, and empty is as good as absent. */
export function parseRequestedVersion(
  requested: string | undefined,
  { requestable }: SupportedVersions,
): RequestedVersion {
  if (requested === undefined) return "none";
  if (requestable.includes(requested)) return { named: requested };
  const asked = requested.trim();
  if (asked === "") return "none";
  const [, version] = /^(\d{1,3}\.\d{1,3})(?:\.\d{1,5})?$/.exec(asked) ?? [];
  return version !== undefined && requestable.includes(version) ? { named: version } : "unsupported";
}

/** Gives the codec of a version, for a caller that may speak any of these. */
export type CodecFor<C extends Codec> = (version: string, among: readonly string[]) => C;

/** Who speaks to a caller in this situation, and why it is refused, if it is. */
export function choose<C extends Codec>(situation: Situation, codecFor: CodecFor<C>): Choice<C> {
  const decision = decide(situation);
  if ("as" in decision) return { codec: codecFor(decision.as, decision.among) };
  return { codec: codecFor(decision.form, [decision.form]), refusal: refusal(decision.refuse, situation.supported) };
}

function refusal(refuse: "version-not-supported" | "method-not-found", { requestable }: SupportedVersions): A2AError {
  if (refuse === "method-not-found") return new A2AError("method-not-found", "Method not found");
  return new A2AError("version-not-supported", `This server speaks A2A ${requestable.join(", ")}`, {
    metadata: { supportedVersions: requestable.join(",") },
  });
}
