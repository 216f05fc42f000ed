// In which version a request is answered. Three facts decide: the requested version (`A2A-Version`), the versions that define the method or
// path, and the server's option `lenient`. `DECISIONS` has one row per relation of the first two and one column per value of the third.

import { A2AError } from "../protocol/error.ts";
import type { Choice, Codec } from "./codec.ts";

/** The versions that a server supports, as `Major.Minor` or `plain`. */
export interface SupportedVersions {
  /** All supported versions, newest first. */
  readonly versions: readonly string[];
  /** The versions that a caller can request in `A2A-Version`, newest first: all except `plain`. */
  readonly requestable: readonly [string, ...string[]];
  /** The versions whose callers must send `A2A-Version`. The header exists since 1.0, so no earlier version requires it. */
  readonly headerRequired: readonly string[];
  /** The version of a caller that sends no `A2A-Version`, if the server supports it and it defines the method or path. */
  readonly assumed: string;
}

/**
 * The parsed value of `A2A-Version`, from header or query (A2A 1.0 §3.6.1): a supported version, no value, or an unsupported or malformed
 * value.
 */
export type RequestedVersion = { readonly version: string } | "none" | "unsupported";

/** Which versions define the method or path of a request. */
export interface RequestForm {
  /** Newest first. Empty: no supported version defines it. */
  readonly definedBy: readonly string[];
  /** The version whose naming style it follows most closely. Never empty. */
  readonly closest: string;
}

/**
 * How the requested version relates to the versions that define the method or path:
 *
 * - `unversioned`: only `plain` defines it, and no caller can request `plain`. `A2A-Version` is ignored.
 * - `unsupported`: the server does not support the requested version.
 * - `unknown`: no supported version defines it.
 * - `match`: the requested version defines it.
 * - `newer`: the requested version does not define it; a later one does.
 * - `older`: the requested version does not define it; only earlier ones do.
 * - `header optional`: no version was requested, and a version that does not require the header defines it.
 * - `header missing`: no version was requested, and only versions that require the header define it.
 */
export const RELATIONS = [
  "unversioned",
  "unsupported",
  "unknown",
  "match",
  "newer",
  "older",
  "header optional",
  "header missing",
] as const;
/** One row of `DECISIONS`. */
export type Relation = (typeof RELATIONS)[number];

/**
 * The outcome: decode the request as the requested version, or as a version that defines its method or path; or refuse it, because the
 * requested version, the assumed version or every version lacks the method, or because the server does not support the version.
 */
type Verdict =
  | "as requested"
  | "as defined"
  | "not in requested"
  | "not in assumed"
  | "not found"
  | "unsupported version";

/** One row of the table: the verdict per value of `lenient`. */
interface Verdicts {
  /** With `lenient` not set. */
  readonly default: Verdict;
  readonly lenient: Verdict;
  readonly strict: Verdict;
}

/**
 * An unsupported version is refused (A2A 1.0 §3.6.2). Otherwise the method or path decides, because many callers send no version.
 *
 * By default a method of a newer version is answered even if the header is missing or requests an older one: A2A 1.0 §3.6.2 says that a
 * missing header means 0.3, but many callers of 1.0 do not send it.
 */
// biome-ignore format: a table is read by its columns
export const DECISIONS: Readonly<Record<Relation, Verdicts>> = {
  unversioned:       { default: "as defined",          lenient: "as defined",          strict: "as defined" },
  unsupported:       { default: "unsupported version", lenient: "unsupported version", strict: "unsupported version" },
  unknown:           { default: "not found",           lenient: "not found",           strict: "not found" },
  match:             { default: "as requested",        lenient: "as requested",        strict: "as requested" },
  newer:             { default: "as defined",          lenient: "as defined",          strict: "not in requested" },
  older:             { default: "not in requested",    lenient: "as defined",          strict: "not in requested" },
  "header optional": { default: "as defined",          lenient: "as defined",          strict: "as defined" },
  "header missing":  { default: "as defined",          lenient: "as defined",          strict: "not in assumed" },
};

/** Everything that decides in which version a request is answered. */
export interface Situation {
  readonly supported: SupportedVersions;
  readonly requested: RequestedVersion;
  readonly form: RequestForm;
  /** The server's option `lenient`. */
  readonly lenient: boolean | undefined;
}

/** Decode the request as `version`, or refuse it with an error in the format of `version`. */
export type Decision =
  | {
      readonly version: string;
      /** The versions that the caller may be using. The answer should be readable in all of them. */
      readonly candidates: readonly string[];
    }
  | { readonly version: string; readonly refuse: "version-not-supported" | "method-not-found" };

/** Pure. A refusal also has a version, because the error must be encoded in some format: the requested one if there is one. */
export function decide(situation: Situation): Decision {
  const { supported, requested, form, lenient } = situation;
  const verdicts = DECISIONS[relationOf(situation)];
  const verdict = lenient === undefined ? verdicts.default : lenient ? verdicts.lenient : verdicts.strict;
  const version = typeof requested === "string" ? form.closest : requested.version;
  switch (verdict) {
    case "as requested":
      return { version, candidates: [version] };
    case "as defined":
      return { version: preferred(form.definedBy, supported), candidates: form.definedBy };
    case "not in requested":
    case "not found":
      return { version, refuse: "method-not-found" };
    case "not in assumed":
      return supported.versions.includes(supported.assumed)
        ? { version: supported.assumed, refuse: "method-not-found" }
        : unsupportedVersion(supported);
    case "unsupported version":
      return unsupportedVersion(supported);
  }
}

/** In the format of the newest version: 1.0 is the first version that defines this error. */
function unsupportedVersion({ requestable }: SupportedVersions): Decision {
  return { version: requestable[0], refuse: "version-not-supported" };
}

/** The order matters: except on plain paths, an unsupported version is refused whatever the method is (A2A 1.0 §3.6.2). */
function relationOf({ supported, requested, form }: Situation): Relation {
  if (isUnversioned(form, supported)) return "unversioned";
  if (requested === "unsupported") return "unsupported";
  if (form.definedBy.length === 0) return "unknown";
  if (requested === "none") return isHeaderRequired(form, supported) ? "header missing" : "header optional";
  if (form.definedBy.includes(requested.version)) return "match";
  const { versions } = supported;
  const at = versions.indexOf(requested.version);
  return form.definedBy.some((version) => versions.indexOf(version) < at) ? "newer" : "older";
}

function isUnversioned({ definedBy }: RequestForm, { requestable }: SupportedVersions): boolean {
  return definedBy.length > 0 && !definedBy.some((version) => requestable.includes(version));
}

function isHeaderRequired({ definedBy }: RequestForm, { headerRequired }: SupportedVersions): boolean {
  return definedBy.every((version) => headerRequired.includes(version));
}

/** The assumed version if it is among `versions`, else the newest. */
function preferred(versions: readonly string[], { assumed, requestable }: SupportedVersions): string {
  return versions.includes(assumed) ? assumed : (versions[0] ?? requestable[0]);
}

/** Parses `A2A-Version`. The patch number is ignored (A2A 1.0 §3.6), and an empty value counts as absent. Never throws. */
export function parseRequestedVersion(
  requested: string | undefined,
  { requestable }: SupportedVersions,
): RequestedVersion {
  if (requested === undefined) return "none";
  if (requestable.includes(requested)) return { version: requested };
  const trimmed = requested.trim();
  if (trimmed === "") return "none";
  const [, version] = /^(\d{1,3}\.\d{1,3})(?:\.\d{1,5})?$/.exec(trimmed) ?? [];
  return version !== undefined && requestable.includes(version) ? { version } : "unsupported";
}

/** Returns the codec of `version`, for a caller that may be using any of `candidates`. */
export type CodecFor<C extends Codec> = (version: string, candidates: readonly string[]) => C;

/** Chooses the codec that answers a request. A refused request gets a codec too, to encode the error. */
export function choose<C extends Codec>(situation: Situation, codecFor: CodecFor<C>): Choice<C> {
  const decision = decide(situation);
  if (!("refuse" in decision)) return { codec: codecFor(decision.version, decision.candidates) };
  const codec = codecFor(decision.version, [decision.version]);
  return { codec, refusal: refusal(decision.refuse, situation.supported) };
}

function refusal(refuse: "version-not-supported" | "method-not-found", { requestable }: SupportedVersions): A2AError {
  if (refuse === "method-not-found") return new A2AError("method-not-found", "Method not found");
  return new A2AError("version-not-supported", `This server supports A2A ${requestable.join(", ")}`, {
    metadata: { supportedVersions: requestable.join(",") },
  });
}
