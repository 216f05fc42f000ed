export { type OpenStore, type StoreSetup, storeContract } from "./testing/store-contract.ts";
