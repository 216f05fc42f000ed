import type { RestCodec, RestFamily } from "./codec.ts";
import { choose, parseRequestedVersion, type SupportedVersions } from "./negotiate.ts";
import type { DialectSettings } from "./options.ts";
import type { VersionRow } from "./registry.ts";

interface Family {
  readonly version: string;
  readonly rest: NonNullable<VersionRow["rest"]>;
  codec(body: unknown): RestCodec;
}

export interface RestFamilyOptions {
  readonly rows: readonly VersionRow[];
  readonly supported: SupportedVersions;
  readonly settings: DialectSettings;
}

/** The REST routes of every supported version. Paths of different versions do not overlap, so the path identifies the version. */
export function createRestFamilies({ rows, supported, settings }: RestFamilyOptions): readonly RestFamily[] {
  const families = rows.flatMap(({ version, rest }): Family[] =>
    rest === undefined ? [] : [{ version, rest, codec: rest.codecs(settings) }],
  );
  return families.map((own): RestFamily => {
    const { version, rest } = own;
    const { routes, tenants, forDefaultProject = false, alsoOf } = rest;
    const definedBy = alsoOf !== undefined && supported.versions.includes(alsoOf) ? [version, alsoOf] : [version];
    return {
      routes,
      tenants,
      forDefaultProject,
      choose: (requested, body) =>
        choose(
          {
            supported,
            requested: parseRequestedVersion(requested, supported),
            form: { definedBy, closest: version },
            lenient: settings.lenient,
          },
          (chosen) => (definedBy.includes(chosen) ? own : (nearest(families, chosen, supported) ?? own)).codec(body),
        ),
    };
  });
}

/** The family that encodes errors for callers of `version`: its own, else that of the next newer version that has REST. */
function nearest(families: readonly Family[], version: string, { versions }: SupportedVersions): Family | undefined {
  const at = versions.indexOf(version);
  return families.findLast((family) => versions.indexOf(family.version) <= at);
}
