import type { RestCodec, RestFamily } from "./codec.ts";
import { choose, parseRequestedVersion, type SupportedVersions } from "./negotiate.ts";
import type { DialectSettings } from "./options.ts";
import type { VersionRow } from "./registry.ts";

/** A version with REST, and its codec for a request body. */
interface Family {
  readonly version: string;
  readonly rest: NonNullable<VersionRow["rest"]>;
  codec(body: unknown): RestCodec;
}

/** What the routes of a server depend on. */
export interface RestFamilyOptions {
  readonly rows: readonly VersionRow[];
  readonly supported: SupportedVersions;
  readonly settings: DialectSettings;
}

/**
 * The REST routes of every supported version. Versions with the same routes form one family, and `A2A-Version` chooses among them; otherwise the
 * paths of different versions do not overlap, so the path identifies the version.
 */
export function createRestFamilies({ rows, supported, settings }: RestFamilyOptions): readonly RestFamily[] {
  const families = rows.flatMap(({ version, rest }): Family[] =>
    rest === undefined ? [] : [{ version, rest, codec: rest.codecs(settings) }],
  );
  return [...Map.groupBy(families, ({ rest }) => rest.routes).values()].flatMap((sharing): RestFamily[] => {
    const [own] = sharing;
    if (own === undefined) return [];
    const { version, rest } = own;
    const { routes, tenants, alsoOf } = rest;
    const versions = sharing.map((family) => family.version);
    const definedBy = alsoOf !== undefined && supported.versions.includes(alsoOf) ? [...versions, alsoOf] : versions;
    const familyOf = (chosen: string): Family =>
      sharing.find((family) => family.version === chosen) ??
      (definedBy.includes(chosen) ? own : (nearest(families, chosen, supported) ?? own));
    return [
      {
        routes,
        tenants,
        rootAgent: rest.rootAgent?.(settings),
        choose: (requested, body) =>
          choose(
            {
              supported,
              requested: parseRequestedVersion(requested, supported),
              form: { definedBy, closest: version },
              lenient: settings.lenient,
            },
            (chosen) => familyOf(chosen).codec(body),
          ),
      },
    ];
  });
}

/** The family that encodes errors for callers of `version`: its own, else that of the next newer version that has REST. */
function nearest(families: readonly Family[], version: string, { versions }: SupportedVersions): Family | undefined {
  const at = versions.indexOf(version);
  return families.findLast((family) => versions.indexOf(family.version) <= at);
}
