import { openSeed, type Seed } from "../seed.ts";

const INDEX = {
  "1. message/send › Request": "tested",
  "1. message/send › Request with a webhook": "tested",
  "1. message/send › Response (Task)": "tested",
  "1. message/send › Response (Message)": "tested",
  "2. tasks/get › Request": "tested",
  "2. tasks/get › Response": "tested",
  "3. tasks/cancel › Request": "tested",
  "3. tasks/cancel › Response": "tested",
  "Optional Methods › capabilities": "tested",
  "4. message/stream": "tested",
  "4. message/stream › error event": "tested",
  "5. tasks/resubscribe": "tested",
  "6. tasks/pushNotificationConfig/set": "tested",
  "7. agent/authenticatedExtendedCard": "tested",
  "Method Naming Across Transports › message/send": "tested",
  "Method Naming Across Transports › message/stream": "tested",
  "Method Naming Across Transports › tasks/get": "tested",
  "Method Naming Across Transports › tasks/cancel": "tested",
  "Method Naming Across Transports › tasks/resubscribe": "tested",
  "Method Naming Across Transports › gRPC": "later: it needs gRPC, which is not served yet",
  "Task Event": "tested",
  "Status Update Event": "tested",
  "Artifact Update Event": "tested",
  "Direct Message Event": "tested",
  "Implementation Notes › 1. Authentication": "tested",
  "Implementation Notes › 2. Content-Type": "tested",
  "Implementation Notes › 3. Streaming Content-Type": "tested",
  "Implementation Notes › 4. Error Handling": "nothing: it refers to the error codes of the protocol",
  "Implementation Notes › 5. Metadata": "tested",
  "Implementation Notes › 6. Message Parts": "tested",
  "Implementation Notes › 7. State Names": "tested",
  "Implementation Notes › 8. Required Fields": "tested",
} as const;

/** The core methods as 0.3 has them. */
export const seed: Seed<typeof INDEX> = openSeed("003", INDEX);
