import { expect, it } from "vitest";

/**
 * How an example of a seed is covered. A seed is a document that this server was written to implement. `tested`: a test
 * here runs the example. `later`: the example needs a feature that the server does not have yet. `nothing`: the section
 * defines or explains, without requests or responses.
 */
export type Outlook = "tested" | `later: ${string}` | `nothing: ${string}`;

/** Every example of a seed by section; sections with several examples name each: `Section › example`. */
export type SeedIndex = Readonly<Record<string, Outlook>>;

type TestedIn<Index extends SeedIndex> = {
  [Name in keyof Index]: Index[Name] extends "tested" ? Name : never;
}[keyof Index] &
  string;

export interface Seed<Index extends SeedIndex> {
  /** The name of the test that runs one example. The claim states the expected behaviour. */
  example(name: TestedIn<Index>, claim: string): string;
  /** Call last: checks that every example of the index is tested once, or listed with a reason. */
  checkIndex(): void;
}

export function openSeed<const Index extends SeedIndex>(number: string, index: Index): Seed<Index> {
  const played: string[] = [];
  return {
    example(name, claim) {
      played.push(name);
      return `seed ${number}, "${name}": ${claim}`;
    },
    checkIndex() {
      const names = Object.keys(index);
      it(`seed ${number}: each of its ${names.length} examples is tested once, or listed with a reason`, () => {
        expect(played.toSorted()).toEqual(names.filter((name) => index[name] === "tested").toSorted());
      });
    },
  };
}
