export { processAgent } from "./adapters/process/process-agent.ts";
export type { ProcessFailureCode } from "./adapters/process/process-failure.ts";
export {
  createProcessManager,
  type ProcessManagerOptions,
  type ProgramManager,
  type SessionEvent,
  type SessionListener,
} from "./adapters/process/process-manager.ts";
export {
  PROCESS_PROTOCOLS,
  type ProcessAgentOptions,
  type ProcessOptions,
  type ProcessProtocol,
} from "./adapters/process/process-options.ts";
