import { changeCases } from "./store/change-cases.ts";
import { claimCases } from "./store/claim-cases.ts";
import { claimRaceCases } from "./store/claim-race-cases.ts";
import { claimedCases } from "./store/claimed-cases.ts";
import { closingCases } from "./store/closing-cases.ts";
import { commitCases } from "./store/commit-cases.ts";
import { conditionCases } from "./store/condition-cases.ts";
import { contextCases } from "./store/context-cases.ts";
import { storeDeliveryCases } from "./store/delivery-cases.ts";
import { storeIdempotencyCases } from "./store/idempotency-cases.ts";
import { journalCases } from "./store/journal-cases.ts";
import { storeLeaseCases } from "./store/lease-cases.ts";
import { storeListCases } from "./store/list-cases.ts";
import { nodeCases } from "./store/node-cases.ts";
import { operatorCases } from "./store/operator-cases.ts";
import { storeReadCases } from "./store/read-cases.ts";
import { storeRetentionCases } from "./store/retention-cases.ts";
import { stateRaceCases } from "./store/state-race-cases.ts";
import type { OpenStore, StoreCase } from "./store/store-case.ts";
import { taskRaceCases } from "./store/task-race-cases.ts";
import { withTrial } from "./store/trial.ts";
import { storeWebhookCases } from "./store/webhook-cases.ts";
import { storeWriteCases } from "./store/write-cases.ts";

const cases: readonly StoreCase[] = [
  ...storeWriteCases,
  ...conditionCases,
  ...commitCases,
  ...storeLeaseCases,
  ...claimCases,
  ...nodeCases,
  ...storeReadCases,
  ...changeCases,
  ...claimedCases,
  ...storeListCases,
  ...operatorCases,
  ...journalCases,
  ...contextCases,
  ...storeRetentionCases,
  ...storeIdempotencyCases,
  ...storeWebhookCases,
  ...storeDeliveryCases,
  ...taskRaceCases,
  ...claimRaceCases,
  ...stateRaceCases,
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
