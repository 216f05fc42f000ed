import "./seed-002/transport.ts";
import "./seed-002/sub-agents.ts";
import "./seed-002/tools.ts";
import "./seed-002/connection.ts";
import "./seed-002/error-codes.ts";
import "./seed-002/server.ts";
import "./seed-002/agent-loop.ts";
import "./seed-002/tool-providers.ts";
import "./seed-002/rest.ts";
import "./seed-002/client.ts";
import "./seed-002/their-servers.ts";
import "./seed-002/security.ts";
import { seed } from "./seed-002/seed.ts";

seed.checkIndex();
