import type { RestCodec, RestFamily } from "./codec.ts";
import { choose, claimOf, type Spoken } from "./negotiate.ts";
import type { DialectSettings } from "./options.ts";
import type { VersionRow } from "./registry.ts";

interface Family {
  readonly version: string;
  readonly rest: NonNullable<VersionRow["rest"]>;
  codec(body: unknown): RestCodec;
}

export interface RestFamilyOptions {
  readonly rows: readonly VersionRow[];
  readonly spoken: Spoken;
  readonly settings: DialectSettings;
}

/** The REST routes of every version. Their paths do not overlap, so a path tells the version it is spelt in. */
export function createRestFamilies({ rows, spoken, settings }: RestFamilyOptions): readonly RestFamily[] {
  const families = rows.flatMap(({ version, rest }): Family[] =>
    rest === undefined ? [] : [{ version, rest, codec: rest.codecs(settings) }],
  );
  return families.map((own): RestFamily => {
    const { version, rest } = own;
    const { routes, tenants, forDefaultProject = false, alsoOf } = rest;
    const of = alsoOf !== undefined && spoken.versions.includes(alsoOf) ? [version, alsoOf] : [version];
    return {
      routes,
      tenants,
      forDefaultProject,
      choose: (requested, body) =>
        choose(
          { spoken, claim: claimOf(requested, spoken), spelling: { of, like: version }, lenient: settings.lenient },
          (chosen) => (of.includes(chosen) ? own : (nearest(families, chosen, spoken) ?? own)).codec(body),
        ),
    };
  });
}

/** Who tells callers of a version of something by REST: that version, or the next one after it that has REST. */
function nearest(families: readonly Family[], version: string, { versions }: Spoken): Family | undefined {
  const at = versions.indexOf(version);
  return families.findLast((family) => versions.indexOf(family.version) <= at);
}
