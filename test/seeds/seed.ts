import { expect, it } from "vitest";

/**
 * What becomes of one example of a seed, a document this server was written to. `tested`: it is played here. `later`: it needs
 * what the server does not do yet. `nothing`: it defines or explains, and nobody says anything to anybody.
 */
export type Outlook = "tested" | `later: ${string}` | `nothing: ${string}`;

/** Every example of a seed by section, and within it by a name where it has several: `Section › example`. */
export type SeedIndex = Readonly<Record<string, Outlook>>;

type TestedIn<Index extends SeedIndex> = {
  [Name in keyof Index]: Index[Name] extends "tested" ? Name : never;
}[keyof Index] &
  string;

export interface Seed<Index extends SeedIndex> {
  /** The name of the test that plays one example. The claim says how it is answered. */
  example(name: TestedIn<Index>, claim: string): string;
  /** To be called last: holds that every example of the index is played once, or listed with the reason why not. */
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
      it(`seed ${number}: each of its ${names.length} examples is tested once, or listed with the reason why not`, () => {
        expect(played.toSorted()).toEqual(names.filter((name) => index[name] === "tested").toSorted());
      });
    },
  };
}
