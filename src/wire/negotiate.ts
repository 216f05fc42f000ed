import { A2AError } from "../protocol/error.ts";
import type { Choice, Codec } from "./codec.ts";

/** What a server speaks, and what it takes callers for. */
export interface Spoken {
  /** Every version, newest first. */
  readonly versions: readonly string[];
  /** Those among them that a caller can name, as `Major.Minor`. At least one. */
  readonly nameable: readonly [string, ...string[]];
  /** Those whose callers have to name it. Before 1.0 there was no way to. */
  readonly selfNaming: readonly string[];
  /** The version of callers that name none, where it is spoken and their spelling allows it. */
  readonly assumed: string;
}

/** What a caller says of its version, by header or query: one that is spoken, nothing, or one that is not spoken. */
export type Claim = { readonly named: string } | "none" | "unsupported";

/** What the spelling of a request tells. */
export interface Spelling {
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
  readonly spoken: Spoken;
  readonly claim: Claim;
  readonly spelling: Spelling;
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
  const { spoken, claim, spelling, lenient } = situation;
  const verdicts = DECISIONS[relationOf(situation)];
  const verdict = lenient === undefined ? verdicts.usual : lenient ? verdicts.lenient : verdicts.strict;
  const named = typeof claim === "string" ? spelling.like : claim.named;
  switch (verdict) {
    case "as named":
      return { as: named, among: [named] };
    case "as spelt":
      return { as: preferred(spelling.of, spoken), among: spelling.of };
    case "not in named":
    case "not found":
      return { refuse: "method-not-found", form: named };
    case "not in assumed":
      return spoken.versions.includes(spoken.assumed)
        ? { refuse: "method-not-found", form: spoken.assumed }
        : notSpoken(spoken);
    case "not spoken":
      return notSpoken(spoken);
  }
}

/** The newest has a form for this, if any has. */
function notSpoken({ nameable }: Spoken): Decision {
  return { refuse: "version-not-supported", form: nameable[0] };
}

function relationOf({ spoken, claim, spelling }: Situation): Relation {
  if (isNameless(spelling, spoken)) return "nameless";
  if (claim === "unsupported") return "unspoken";
  if (spelling.of.length === 0) return "unknown";
  if (claim === "none") return isSelfNaming(spelling, spoken) ? "silently ahead" : "silent";
  if (spelling.of.includes(claim.named)) return "agreed";
  const { versions } = spoken;
  const at = versions.indexOf(claim.named);
  return spelling.of.some((version) => versions.indexOf(version) < at) ? "ahead" : "behind";
}

function isNameless({ of }: Spelling, { nameable }: Spoken): boolean {
  return of.length > 0 && !of.some((version) => nameable.includes(version));
}

function isSelfNaming({ of }: Spelling, { selfNaming }: Spoken): boolean {
  return of.every((version) => selfNaming.includes(version));
}

/** Of several versions that spell alike, the one assumed, else the newest. */
function preferred(versions: readonly string[], { assumed, nameable }: Spoken): string {
  return versions.includes(assumed) ? assumed : (versions[0] ?? nameable[0]);
}

/** What `A2A-Version` says: patch numbers are not looked at, and empty is as good as absent. */
export function claimOf(requested: string | undefined, { nameable }: Spoken): Claim {
  if (requested === undefined) return "none";
  if (nameable.includes(requested)) return { named: requested };
  const asked = requested.trim();
  if (asked === "") return "none";
  const [, version] = /^(\d{1,3}\.\d{1,3})(?:\.\d{1,5})?$/.exec(asked) ?? [];
  return version !== undefined && nameable.includes(version) ? { named: version } : "unsupported";
}

/** Gives the codec of a version, for a caller that may speak any of these. */
export type Speaker<C extends Codec> = (version: string, among: readonly string[]) => C;

/** Who speaks to a caller in this situation, and why it is refused, if it is. */
export function choose<C extends Codec>(situation: Situation, speaker: Speaker<C>): Choice<C> {
  const decision = decide(situation);
  if ("as" in decision) return { codec: speaker(decision.as, decision.among) };
  return { codec: speaker(decision.form, [decision.form]), refusal: refusal(decision.refuse, situation.spoken) };
}

function refusal(refuse: "version-not-supported" | "method-not-found", { nameable }: Spoken): A2AError {
  if (refuse === "method-not-found") return new A2AError("method-not-found", "Method not found");
  return new A2AError("version-not-supported", `This server speaks A2A ${nameable.join(", ")}`, {
    metadata: { supportedVersions: nameable.join(",") },
  });
}
