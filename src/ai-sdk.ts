export type {
  AiSdkAgent,
  AiSdkCall,
  AiSdkMessage,
  AiSdkPart,
  AiSdkStep,
  AiSdkToolContent,
  AiSdkUsage,
} from "./adapters/ai-sdk/ai-sdk-agent.ts";
export { fromAiSdk } from "./adapters/ai-sdk/from-ai-sdk.ts";
export type { ApprovalRequest, FrameworkOptions } from "./adapters/frameworks/framework-options.ts";
