export type { OpenedStore, OpenStore, StoreSetup } from "./testing/store/store-case.ts";
export { storeContract } from "./testing/store-contract.ts";
export {
  createUnreliableStore,
  type StoreFaults,
  type StoreMethod,
  type UnreliableStore,
  type UnreliableStoreOptions,
} from "./testing/unreliable-store.ts";
