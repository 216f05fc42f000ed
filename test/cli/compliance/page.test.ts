import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ROOT } from "../../architecture/imports.ts";
import { compliancePage, declaredEvidence, PAGE } from "./page.ts";
import { REQUIREMENTS } from "./requirements.ts";

describe(`the report ${PAGE}`, () => {
  const evidence = declaredEvidence();

  it("matches the tests (if not: node scripts/cli-compliance.ts --write)", () => {
    const page = readFileSync(join(ROOT, PAGE), "utf8");
    const date = /report_date: (\d{4}-\d{2}-\d{2})\n/.exec(page)?.[1] ?? "";
    expect(page).toBe(compliancePage(evidence, new Set(), date));
  });

  it("lists a test for every applicable requirement, and no test for an unknown requirement", () => {
    const tested = new Set(evidence.map(({ id }) => id));
    const untested = REQUIREMENTS.filter(({ id, notApplicable }) => notApplicable === undefined && !tested.has(id));
    expect(untested.map(({ id }) => id)).toEqual([]);
    const known = new Set(REQUIREMENTS.map(({ id }) => id));
    expect([...tested].filter((id) => !known.has(id))).toEqual([]);
  });

  it("lists every requirement of both tiers once", () => {
    expect(new Set(REQUIREMENTS.map(({ id }) => id)).size).toBe(REQUIREMENTS.length);
    expect(REQUIREMENTS.filter(({ tier }) => tier === 1)).toHaveLength(39);
    expect(REQUIREMENTS.filter(({ tier }) => tier === 2)).toHaveLength(15);
  });

  it("claims no tier with a known shortfall, and describes the shortfall", () => {
    const page = compliancePage(evidence, new Set(), "2027-05-17");
    const short = REQUIREMENTS.filter(({ shortfall }) => shortfall !== undefined);
    for (const { id, shortfall = "" } of short) {
      expect(page).toMatch(new RegExp(`  ${id}:\\n(?: {4}.*\\n){4} {4}status: partial\\n`));
      expect(page).toContain(JSON.stringify(shortfall));
    }
    const lowest = Math.min(...short.map(({ tier }) => tier), 3) - 1;
    expect(page).toContain(`tier_claimed: ${lowest === 0 ? "none" : lowest}\n`);
  });

  it("claims no tier if a test fails or is missing", () => {
    const [first] = evidence;
    const failing = compliancePage(evidence, new Set([`${first?.id} ${first?.name}`]), "2027-05-17");
    expect(failing).toMatch(/tier_claimed: none/);
    expect(failing).toMatch(/satisfied: false/);
    expect(failing).toMatch(/status: fail\n {4}note: "A test fails\."/);
    const missing = compliancePage(
      evidence.slice(1).filter(({ id }) => id !== first?.id),
      new Set(),
      "2027-05-17",
    );
    expect(missing).toMatch(/status: not_measured/);
  });
});
