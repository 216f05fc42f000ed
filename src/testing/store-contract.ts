import assert from "node:assert/strict";
import { type Retention, type Store, StoreError } from "../store/contract.ts";
import type { OpenStore, StoreCase, StoreTrial } from "./store-case.ts";
import { storeDeliveryCases } from "./store-delivery-cases.ts";
import { storeIdempotencyCases } from "./store-idempotency-cases.ts";
import { storeLeaseCases } from "./store-lease-cases.ts";
import { storeListCases } from "./store-list-cases.ts";
import { START } from "./store-operations.ts";
import { storeReadCases } from "./store-read-cases.ts";
import { storeRetentionCases } from "./store-retention-cases.ts";
import { storeWebhookCases } from "./store-webhook-cases.ts";
import { storeWriteCases } from "./store-write-cases.ts";

const closingCases: readonly StoreCase[] = [
  {
    name: "rejects every call once closed, and may be closed twice",
    async run({ store }) {
      await store.close();
      await store.close();
      const isClosed = (thrown: unknown): boolean => thrown instanceof StoreError && thrown.code === "closed";
      await assert.rejects(store.commit([]), isClosed);
      await assert.rejects(store.health(), isClosed);
      await assert.rejects(store.due(1), isClosed);
      await assert.rejects(store.positions([]), isClosed);
      await assert.rejects(store.unheldWebhooks(1), isClosed);
      await assert.rejects(store.failedWebhooks({ limit: 1 }), isClosed);
    },
  },
  {
    name: "is healthy while open",
    async run({ store }) {
      await store.health();
    },
  },
];

const cases: readonly StoreCase[] = [
  ...storeWriteCases,
  ...storeLeaseCases,
  ...storeReadCases,
  ...storeListCases,
  ...storeRetentionCases,
  ...storeIdempotencyCases,
  ...storeWebhookCases,
  ...storeDeliveryCases,
  ...closingCases,
];

/**
 * The tests that every store must pass. Run each case with any test runner: `run` opens fresh stores with `open`, closes them, and rejects with an
 * `AssertionError` if the store violates the contract.
 */
export const storeContract: readonly { readonly name: string; run(open: OpenStore): Promise<void> }[] = cases.map(
  ({ name, run }) => ({
    name,
    run: (open) => withTrial(open, run),
  }),
);

/** Runs a case with fresh stores and closes them afterwards. */
export async function withTrial(open: OpenStore, run: (trial: StoreTrial) => Promise<void>): Promise<void> {
  const clock = { now: START };
  const opened: Store[] = [];
  const openWith = async (retention: Retention): Promise<Store> => {
    const store = await open({ retention, now: () => clock.now });
    opened.push(store);
    return store;
  };
  try {
    await run({ store: await openWith({}), clock, open: openWith });
  } finally {
    await Promise.all(opened.map((store) => store.close()));
  }
}
