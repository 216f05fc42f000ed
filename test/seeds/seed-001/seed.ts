import type { ServerOptions } from "palaver";
import { openSeed, type Seed } from "../seed.ts";

const INDEX = {
  "3. Transport and Format": "nothing: it tells what all exchanges below keep to",
  "4.3. Client/User Identity › agent card": "tested",
  "4.3. Client/User Identity › credentials": "tested",
  "4.4. Server Responsibilities for Authentication": "tested",
  "4.5. In-Task Authentication": "tested",
  "4.6. Authorization": "tested",
  "5.3. Recommended Location": "tested",
  "5.5. AgentCard Object Structure": "nothing: it defines the card, which 5.6 has an example of",
  "5.6. Sample Agent Card": "tested",
  "5.6. Sample Agent Card › pushNotifications": "tested",
  "6. Protocol Data Objects": "nothing: it defines what the exchanges of 9 are made of",
  "7.1. message/send": "nothing: its exchanges are those of 9.2 and 9.4",
  "7.2. message/stream › initial subscription failure": "tested",
  "7.3. tasks/get": "tested",
  "7.4. tasks/cancel": "tested",
  "7.5. tasks/pushNotificationConfig/set": "tested",
  "7.6. tasks/pushNotificationConfig/get": "tested",
  "7.7. tasks/pushNotificationConfig/list": "tested",
  "7.8. tasks/pushNotificationConfig/delete": "tested",
  "7.9. tasks/resubscribe": "tested",
  "7.9. tasks/resubscribe › failure": "tested",
  "7.10. agent/authenticatedExtendedCard › 401": "tested",
  "7.10. agent/authenticatedExtendedCard › 403": "tested",
  "7.10. agent/authenticatedExtendedCard › 404": "tested",
  "8.1. Standard JSON-RPC Errors › -32700": "tested",
  "8.1. Standard JSON-RPC Errors › -32600": "tested",
  "8.1. Standard JSON-RPC Errors › -32601": "tested",
  "8.1. Standard JSON-RPC Errors › -32602": "tested",
  "8.1. Standard JSON-RPC Errors › -32603": "tested",
  "8.2. A2A-Specific Errors › -32001": "tested",
  "8.2. A2A-Specific Errors › -32002": "tested",
  "8.2. A2A-Specific Errors › -32003": "tested",
  "8.2. A2A-Specific Errors › -32004": "tested",
  "8.2. A2A-Specific Errors › -32005": "tested",
  "8.2. A2A-Specific Errors › -32006": "later: it needs agents that are themselves reached over the protocol",
  "9.1. Fetching Authenticated Extended Agent Card › 1 public card": "tested",
  "9.1. Fetching Authenticated Extended Agent Card › 4 extended card": "tested",
  "9.2. Basic Execution › with a task": "tested",
  "9.2. Basic Execution › without a task": "tested",
  "9.2. Basic Execution › polling": "tested",
  "9.3. Streaming Task Execution (SSE) › 1 request": "tested",
  "9.3. Streaming Task Execution (SSE) › 2 events": "tested",
  "9.4. Multi-Turn Interaction › 1 request": "tested",
  "9.4. Multi-Turn Interaction › 2 input required": "tested",
  "9.4. Multi-Turn Interaction › 3 the input": "tested",
  "9.4. Multi-Turn Interaction › 4 completed": "tested",
  "9.5. Push Notification Setup and Usage › 1 request": "tested",
  "9.5. Push Notification Setup and Usage › 2 response": "tested",
  "9.5. Push Notification Setup and Usage › 3 notification": "tested",
  "9.6. File Exchange › 1 upload": "tested",
  "9.6. File Exchange › 2 download by reference": "tested",
  "9.6. File Exchange › 2 download in place": "tested",
  "9.7. Structured Data Exchange › 1 request": "tested",
  "9.7. Structured Data Exchange › 2 response": "tested",
  "10.1. Relationship to MCP": "nothing: it compares",
  "10.2. Security Considerations Summary › transport security": "tested",
  "10.2. Security Considerations Summary › push notifications": "tested",
  "10.2. Security Considerations Summary › input validation": "nothing: it is that of 8.1, -32602",
  "10.2. Security Considerations Summary › resource management": "tested",
} as const;

/** The protocol's own text, of a day between 0.2.3 and 0.2.5. */
export const seed: Seed<typeof INDEX> = openSeed("001", INDEX);

/**
 * Its callers name no version, and send what callers of 0.3 might send as well. So each example is played twice: to a server
 * that takes them for callers of 0.3, as it does unless told otherwise, and to one that takes them for callers of 0.2.
 */
export const EITHER_WAY: readonly ServerOptions[] = [{}, { assumeVersion: "0.2" }];
