import "./seed-001/cards.ts";
import "./seed-001/methods.ts";
import "./seed-001/errors.ts";
import "./seed-001/workflows.ts";
import "./seed-001/multi-turn.ts";
import "./seed-001/content.ts";
import "./seed-001/push.ts";
import "./seed-001/security.ts";
import "./seed-001/discovery.ts";
import "./seed-001/rules.ts";
import { seed } from "./seed-001/seed.ts";

seed.checkIndex();
