import { realAdkClient } from "./real/adk-client.ts";
import { realAdkServer } from "./real/adk-server.ts";
import { realAgUiClient } from "./real/ag-ui-client.ts";
import { realAiSdkClient } from "./real/ai-sdk-client.ts";
import { realAssistantUiClient } from "./real/assistant-ui-client.ts";
import { realBeeaiClient } from "./real/beeai-client.ts";
import { realBeeaiServer } from "./real/beeai-server.ts";
import { realGeminiCliServer } from "./real/gemini-cli-server.ts";
import { realMastraClient } from "./real/mastra-client.ts";
import { realMastraServer } from "./real/mastra-server.ts";
import type { RealClient, RealServer } from "./real/real-peer.ts";
import { realStrandsClient } from "./real/strands-client.ts";
import { realStrandsServer } from "./real/strands-server.ts";
import { realVoltagentServer } from "./real/voltagent-server.ts";

export const REAL_CLIENTS: readonly RealClient[] = [
  realAdkClient,
  realMastraClient,
  realStrandsClient,
  realBeeaiClient,
  realAiSdkClient,
  realAgUiClient,
  realAssistantUiClient,
];

export const REAL_SERVERS: readonly RealServer[] = [
  realAdkServer,
  realMastraServer,
  realStrandsServer,
  realBeeaiServer,
  realVoltagentServer,
  realGeminiCliServer,
];
