import "./seed-003/methods.ts";
import "./seed-003/extended-card.ts";
import "./seed-003/naming.ts";
import "./seed-003/events.ts";
import "./seed-003/notes.ts";
import "./seed-003/printed.ts";
import "./seed-003/push.ts";
import { seed } from "./seed-003/seed.ts";

seed.checkIndex();
