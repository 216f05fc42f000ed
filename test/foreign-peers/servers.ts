import type { ServerPeer } from "./peer.ts";
import { adkServer } from "./servers/adk.ts";
import { beeaiServer } from "./servers/beeai.ts";
import { geminiCliServer } from "./servers/gemini-cli.ts";
import { mastraServer } from "./servers/mastra.ts";
import { strandsServer } from "./servers/strands.ts";
import { voltagentServer } from "./servers/voltagent.ts";

export const SERVERS: readonly ServerPeer[] = [
  adkServer,
  mastraServer,
  strandsServer,
  beeaiServer,
  voltagentServer,
  geminiCliServer,
];
