import { describe, expect, it } from "vitest";
import { sampled } from "../../test/fixtures/budget.ts";
import type { ListPage, ListQuery, Outcome, Store } from "../store/contract.ts";
import { createMemoryStore } from "../store/memory/store.ts";
import { PassingStore, withOperations } from "./mutants/mutant-store.ts";
import { raceMutants } from "./mutants/race-mutants.ts";
import { ruleMutants } from "./mutants/rule-mutants.ts";
import type { OpenStore } from "./store/store-case.ts";
import { storeContract } from "./store-contract.ts";

/** The names of those of the cases that fail. */
async function failingCases(open: OpenStore, cases: typeof storeContract = storeContract): Promise<string[]> {
  const failing: string[] = [];
  for (const { name, run } of cases) {
    try {
      await run(open);
    } catch {
      failing.push(name);
    }
  }
  return failing;
}

/** The case whose name begins with this text. */
function caseNamed(beginning: string): string {
  const names = storeContract.map(({ name }) => name).filter((name) => name.startsWith(beginning));
  if (names.length !== 1) throw new Error(`${names.length} cases begin with "${beginning}".`);
  return names[0] ?? "";
}

/** Counts nothing until `settle` is called: the totals of lists are those of the page. */
class DelayedTotals extends PassingStore {
  #isSettled = false;

  settle = async (): Promise<void> => {
    this.#isSettled = true;
  };

  override commit(...call: Parameters<Store["commit"]>): Promise<readonly Outcome[]> {
    this.#isSettled = false;
    return super.commit(...call);
  }

  override sweep(): Promise<number> {
    this.#isSettled = false;
    return super.sweep();
  }

  override async list(query: ListQuery): Promise<ListPage> {
    const page = await super.list(query);
    return this.#isSettled ? page : { ...page, total: page.tasks.length };
  }
}

describe("the store contract accepts", () => {
  it("a wrapper that changes nothing", async () => {
    expect(await failingCases(async (setup) => new PassingStore(createMemoryStore(setup)))).toEqual([]);
  });

  it("a store that counts with a delay, and waits for its settle function", async () => {
    const open: OpenStore = async (setup) => {
      const store = new DelayedTotals(createMemoryStore(setup));
      return { store, settle: store.settle };
    };
    expect(await failingCases(open)).toEqual([]);
  });

  it("a store with a second connection, uses it for the races, and closes it", async () => {
    const used = { calls: 0, closed: 0 };
    class Counted extends PassingStore {
      override commit(...call: Parameters<Store["commit"]>): Promise<readonly Outcome[]> {
        used.calls += 1;
        return super.commit(...call);
      }
      override close(): Promise<void> {
        used.closed += 1;
        return super.close();
      }
    }
    const open: OpenStore = async (setup) => {
      const inner = createMemoryStore(setup);
      return { store: new PassingStore(inner), openSecond: async () => new Counted(inner) };
    };
    expect(await failingCases(open)).toEqual([]);
    expect(used.calls).toBeGreaterThan(100);
    expect(used.closed).toBe(storeContract.length);
  });
});

describe("with a second connection, the store contract", () => {
  it("refuses a store whose connections remember commit keys each for itself; over one connection it accepts it", async () => {
    // Each wrapper remembers keys of its own, and passes none on.
    const connect = withOperations(() => undefined);
    expect(await failingCases(async (setup) => connect(createMemoryStore(setup)))).toEqual([]);
    const open: OpenStore = async (setup) => {
      const inner = createMemoryStore(setup);
      return { store: connect(inner), openSecond: async () => connect(inner) };
    };
    expect(await failingCases(open)).toEqual([caseNamed("race: of two commits with one key")]);
  });
});

/** Every how many of the cases that must pass are run for a mutant: others for each mutant. */
const STRIDE = sampled(6, 1);

describe.each([
  ["races", raceMutants],
  ["other rules", ruleMutants],
])("the store contract refuses, by its cases of %s, a store that", (_, mutants) => {
  it.each(mutants.map((mutant, index) => ({ ...mutant, index })))("$name", async ({ open, failing, index }) => {
    const expected = failing.map(caseNamed).sort();
    const cases = storeContract.filter(({ name }, n) => expected.includes(name) || (n + index) % STRIDE === 0);
    const found = await failingCases(async (setup) => open(createMemoryStore(setup)), cases);
    expect(found.sort()).toEqual(expected);
  });
});
