import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

interface Checklist {
  readonly version: string;
  /** How many statements there are, numbered from 1. */
  readonly statements: number;
  /** Those that no test names here, and why. */
  readonly elsewhere: ReadonlyArray<readonly [reason: string, ...numbers: number[]]>;
}

const CHECKLISTS: readonly Checklist[] = [
  {
    version: "1.0",
    statements: 77,
    elsewhere: [
      ["cards are not signed", 4, 5],
      ["push notifications are not sent", 45, 46, 47, 48, 49, 50, 51],
      [
        "who calls is for the authenticator to say, which the application brings",
        52,
        55,
        60,
        61,
        71,
        72,
        73,
        74,
        75,
        76,
      ],
      ["gRPC is not served", 70],
    ],
  },
  {
    version: "0.3",
    statements: 18,
    elsewhere: [
      ["gRPC is not served", 8],
      ["who calls is for the authenticator to say, which the application brings", 12],
      ["push notifications are not sent", 16],
      ["cards are not signed", 18],
    ],
  },
];

/** The numbers in the names of the tests of one version. */
function tested(version: string): readonly number[] {
  const source = readFileSync(join(import.meta.dirname, `must-${version.replace(".", "-")}.test.ts`), "utf8");
  const titles = source.matchAll(
    new RegExp(`(?:it|describe)\\(\\s*"${version.replace(".", "\\.")} MUST (\\d+): \\S`, "g"),
  );
  return [...titles].map(([, number]) => Number(number));
}

describe.each(CHECKLISTS)("what a server of $version must do", ({ version, statements, elsewhere }) => {
  it("has a test for each statement, or a reason why not", () => {
    const excused = elsewhere.flatMap(([, ...numbers]) => numbers);
    const covered = [...tested(version), ...excused].toSorted((one, other) => one - other);
    expect(covered).toEqual(Array.from({ length: statements }, (_, index) => index + 1));
  });
});
