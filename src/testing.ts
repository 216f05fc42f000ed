export type {
  AgentTest,
  CrashOptions,
  TaskReference,
  TestAgentOptions,
  TestLogLine,
  TestSendOptions,
} from "./testing/agent/agent-test.ts";
export { testAgent } from "./testing/agent/test-agent.ts";
export { type CrashReport, testCrashes } from "./testing/agent/test-crashes.ts";
export type { TestedEvent, TestedTask } from "./testing/agent/tested-task.ts";
export { type ModelReplyInput, modelReplies, type PreparedModel } from "./testing/models/model-replies.ts";
export { type RecordedModelOptions, recordedModel } from "./testing/models/recorded-model.ts";
export type { OpenedStore, OpenStore, StoreSetup } from "./testing/store/store-case.ts";
export { storeContract } from "./testing/store-contract.ts";
export {
  createUnreliableStore,
  type StoreFaults,
  type StoreMethod,
  type UnreliableStore,
  type UnreliableStoreOptions,
} from "./testing/unreliable-store.ts";
