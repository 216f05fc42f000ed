import type { Family } from "./registry.ts";

/** The metrics as data for programs. Metrics without values are left out. */
export function metricsJson(families: readonly Family[]): readonly object[] {
  return families.flatMap((family): readonly object[] => {
    const { name, help } = family.spec;
    if (family.type !== "histogram") {
      return family.samples.length === 0 ? [] : [{ name, help, type: family.type, values: family.samples }];
    }
    const { limits, distributions } = family;
    if (distributions.length === 0) return [];
    const values = distributions.map(({ labels, counts, sum }) => ({ labels, counts, sum, count: counts.at(-1) ?? 0 }));
    return [{ name, help, type: family.type, limits, values }];
  });
}
