import "./seed-004/functions.ts";
import "./seed-004/invariants.ts";
import "./seed-004/scenarios.ts";
import "./seed-004/agent-cards.ts";
import "./seed-004/invocations.ts";
import "./seed-004/mcp-tools.ts";
import "./seed-004/process-manager.ts";
import { seed } from "./seed-004/seed.ts";

seed.checkIndex();
