import type { OpenPostgresStore } from "../../src/store/postgres/open-postgres-store.ts";
import { openPostgresStore, type PostgresStoreOptions } from "../../src/store/postgres/store.ts";
import type { OpenStore, StoreSetup } from "../../src/testing/store/store-case.ts";
import type { storeContract } from "../../src/testing/store-contract.ts";
import { inTurn } from "../fixtures/nodes/in-turn.ts";
import { EmptySchemas } from "./empty-schemas.ts";

export interface ContractStoresOptions extends Pick<PostgresStoreOptions, "url" | "durability"> {
  /** The address for emptying schemas. Default: `url`. */
  readonly directUrl?: string;
  /** How many stores take the calls to one store in turn. Default 1. */
  readonly count?: number;
}

/** The names of cases that close a store themselves. */
const CLOSES = /\bclosed\b/;

type ContractCase = (typeof storeContract)[number];

/** Two stores of one schema that stay open from case to case. */
interface Kept {
  readonly schema: string;
  readonly pair: readonly [OpenPostgresStore, OpenPostgresStore];
  now: () => number;
}

/**
 * Opens stores for the cases of the store contract. Most cases use the same two stores, and begin with empty tables: a new connection has to load
 * and plan every function of the database again, which takes longer than a case.
 */
export class ContractStores {
  readonly #options: ContractStoresOptions;
  readonly #schemas: EmptySchemas;
  #kept: Kept | undefined;
  #isLent = false;

  private constructor(options: ContractStoresOptions, schemas: EmptySchemas) {
    this.#options = options;
    this.#schemas = schemas;
  }

  static async connect(options: ContractStoresOptions): Promise<ContractStores> {
    return new ContractStores(options, await EmptySchemas.connect(options.directUrl ?? options.url));
  }

  /** Runs one case. */
  async run({ name, run }: ContractCase): Promise<void> {
    try {
      await run(CLOSES.test(name) ? this.#openNew : this.#openKept);
    } finally {
      this.#isLent = false;
      this.#schemas.releaseAll();
    }
  }

  /** Opens new stores. */
  readonly #openNew: OpenStore = async (setup) => {
    const schema = await this.#schemas.next();
    const opened: OpenPostgresStore[] = [];
    const open = async (): Promise<OpenPostgresStore> => {
      const store = await this.#open(schema, setup);
      opened.push(store);
      return store;
    };
    return { store: await open(), openSecond: open, settle: () => this.#countAll(opened) };
  };

  /** Lends the stores that stay open, or opens new ones with another retention, or if they are in use. */
  readonly #openKept: OpenStore = async (setup) => {
    if (this.#isLent || Object.keys(setup.retention).length > 0) return this.#openNew(setup);
    this.#isLent = true;
    const isFirst = this.#kept === undefined;
    this.#kept ??= await this.#keep();
    this.#kept.now = setup.now;
    if (!isFirst) await this.#schemas.empty(this.#kept.schema);
    const { pair } = this.#kept;
    const [first, second] = pair;
    return {
      store: keptOpen(first),
      openSecond: () => Promise.resolve(keptOpen(second)),
      settle: () => this.#countAll(pair),
    };
  };

  async close(): Promise<void> {
    await Promise.all(this.#kept?.pair.map((store) => store.close()) ?? []);
    await this.#schemas.close();
  }

  async #keep(): Promise<Kept> {
    const schema = this.#schemas.reserve();
    const kept: { now: () => number } = { now: () => 0 };
    const setup = { retention: {}, now: () => kept.now() };
    const pair = [await this.#open(schema, setup), await this.#open(schema, setup)] as const;
    return Object.assign(kept, { schema, pair });
  }

  /** Stores that take calls in turn count one after the other. */
  async #countAll(stores: readonly OpenPostgresStore[]): Promise<void> {
    const { count = 1 } = this.#options;
    for (const store of stores) for (let turn = 0; turn < count; turn += 1) await store.countTasks();
  }

  async #open(schema: string, setup: StoreSetup): Promise<OpenPostgresStore> {
    const { url, durability, count = 1 } = this.#options;
    const options = { url, schema, ...(durability !== undefined && { durability }), ...setup };
    return inTurn(await Promise.all(Array.from({ length: count }, () => openPostgresStore(options))));
  }
}

/** The store, whose `close` only waits for the calls that are under way. */
function keptOpen(store: OpenPostgresStore): OpenPostgresStore {
  const pending = new Set<Promise<unknown>>();
  return new Proxy(store, {
    get(_, name) {
      if (name === "close") return () => Promise.allSettled(pending);
      const member: unknown = Reflect.get(store, name);
      if (typeof member !== "function") return member;
      return (...parameters: unknown[]) => {
        const call: Promise<unknown> = member.apply(store, parameters);
        pending.add(call);
        const settled = () => pending.delete(call);
        call.then(settled, settled);
        return call;
      };
    },
  });
}
