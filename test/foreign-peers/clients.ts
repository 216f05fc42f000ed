import { adkClient } from "./clients/adk.ts";
import { agUiClient } from "./clients/ag-ui.ts";
import { aiSdkClient } from "./clients/ai-sdk.ts";
import { assistantUiClient } from "./clients/assistant-ui.ts";
import { beeaiClient } from "./clients/beeai.ts";
import { mastraClient } from "./clients/mastra.ts";
import { strandsClient } from "./clients/strands.ts";
import type { ClientPeer } from "./peer.ts";

export const CLIENTS: readonly ClientPeer[] = [
  adkClient,
  mastraClient,
  strandsClient,
  beeaiClient,
  aiSdkClient,
  agUiClient,
  assistantUiClient,
];
