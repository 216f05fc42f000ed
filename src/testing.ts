export { type OpenStore, type StoreSetup, storeContract } from "./testing/store-contract.ts";
export {
  createUnreliableStore,
  type StoreFaults,
  type StoreMethod,
  type UnreliableStore,
  type UnreliableStoreOptions,
} from "./testing/unreliable-store.ts";
