import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

interface Checklist {
  readonly version: string;
  /** Number of statements, numbered from 1. */
  readonly statements: number;
  /** Statements that no test here names, with the reason. */
  readonly elsewhere: ReadonlyArray<readonly [reason: string, ...numbers: number[]]>;
}

const CHECKLISTS: readonly Checklist[] = [
  {
    version: "1.0",
    statements: 77,
    elsewhere: [],
  },
  {
    version: "0.3",
    statements: 18,
    elsewhere: [],
  },
];

/** The numbers in the test names of one version. */
function tested(version: string): readonly number[] {
  const files = readdirSync(import.meta.dirname).filter((file) => file.startsWith(`must-${version.replace(".", "-")}`));
  const source = files.map((file) => readFileSync(join(import.meta.dirname, file), "utf8")).join("\n");
  const titles = source.matchAll(
    new RegExp(`(?:it|describe)(?:\\.runIf\\([^)]*\\))?\\(\\s*"${version.replace(".", "\\.")} MUST (\\d+): \\S`, "g"),
  );
  return [...titles].map(([, number]) => Number(number));
}

describe.each(CHECKLISTS)("the MUST statements of $version", ({ version, statements, elsewhere }) => {
  it("each have a test, or a reason for its absence", () => {
    const excused = elsewhere.flatMap(([, ...numbers]) => numbers);
    const covered = [...tested(version), ...excused].toSorted((one, other) => one - other);
    expect(covered).toEqual(Array.from({ length: statements }, (_, index) => index + 1));
  });
});
