import { realAdkClient } from "./real/adk-client.ts";
import { realAgUiClient } from "./real/ag-ui-client.ts";
import { realAiSdkClient } from "./real/ai-sdk-client.ts";
import { realAssistantUiClient } from "./real/assistant-ui-client.ts";
import { realBeeaiClient } from "./real/beeai-client.ts";
import { realMastraClient } from "./real/mastra-client.ts";
import type { RealClient, RealServer } from "./real/real-peer.ts";
import { realStrandsClient } from "./real/strands-client.ts";

export const REAL_CLIENTS: readonly RealClient[] = [
  realAdkClient,
  realMastraClient,
  realStrandsClient,
  realBeeaiClient,
  realAiSdkClient,
  realAgUiClient,
  realAssistantUiClient,
];

export const REAL_SERVERS: readonly RealServer[] = [];
