import { describe, expect, it } from "vitest";
import { DECISIONS, RELATIONS } from "../../src/wire/negotiate.ts";
import { dialectSettings, WAITING_DIALECTS } from "../../src/wire/options.ts";
import { readPage } from "../docs/code-blocks.ts";
import type { Loss } from "../wire/losses/loss.ts";
import { LOSSES as LOSSES_0_1 } from "../wire/losses/v0-1.ts";
import { LOSSES as LOSSES_0_2 } from "../wire/losses/v0-2.ts";
import { LOSSES as LOSSES_0_3 } from "../wire/losses/v0-3.ts";
import { LOSSES as LOSSES_0_3_PROTO } from "../wire/losses/v0-3-proto.ts";

const PAGE = "docs/guide/versions.md";

describe(`the page ${PAGE}`, () => {
  it.each([
    ["In 0.3", rowsOf(LOSSES_0_3)],
    ["In 0.3 over REST, as ProtoJSON", rowsOf(LOSSES_0_3_PROTO, LOSSES_0_3)],
    ["In 0.2", rowsOf(LOSSES_0_2, LOSSES_0_3)],
    ["In 0.1", rowsOf(LOSSES_0_1)],
  ])("tells what is lost: %s", (heading, rows) => {
    expect(tableUnder(heading)).toEqual(rows);
  });

  it("describes how the version of a request is determined", () => {
    const rows = RELATIONS.map((relation) => {
      const { default: byDefault, lenient, strict } = DECISIONS[relation];
      return [byDefault, lenient, strict].map((verdict) => WORDS[verdict]);
    });
    expect(tableUnder("How the version of a request is chosen").map((row) => row.slice(1))).toEqual(rows);
  });

  it("describes whether a send waits that does not say so", () => {
    const { blockingDefault } = dialectSettings({});
    const defaults = WAITING_DIALECTS.map((dialect) => [`\`${dialect}\``, `\`${blockingDefault[dialect]}\``]);
    expect(tableUnder("Waiting").map((row) => row.slice(0, 2))).toEqual(defaults);
  });
});

const WORDS = {
  "as requested": "as named",
  "as defined": "as written",
  "not in requested": "refused: method",
  "not in assumed": "refused: method",
  "not found": "refused: method",
  "unsupported version": "refused: version",
} as const;

/** The rows that differ from the other version. */
function rowsOf(losses: Readonly<Record<string, Loss>>, elsewhere: Readonly<Record<string, Loss>> = {}) {
  return Object.entries(losses)
    .filter(([name, { what, becomes }]) => elsewhere[name]?.what !== what || elsewhere[name].becomes !== becomes)
    .map(([, { what, becomes }]) => [what, becomes]);
}

/** The first table of a section, row by row, without its head. */
function tableUnder(heading: string): readonly (readonly string[])[] {
  const page = readPage(PAGE).split("\n");
  const section = page.slice(page.findIndex((line) => line.replace(/^#+ /, "") === heading && line.startsWith("#")));
  const table = section.slice(section.findIndex((line) => line.startsWith("|")));
  const end = table.findIndex((line) => !line.startsWith("|"));
  return table.slice(2, end).map((line) => line.slice(2, -2).split(" | "));
}
