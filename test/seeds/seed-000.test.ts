import "./seed-000/foundation.ts";
import "./seed-000/model.ts";
import "./seed-000/methods.ts";
import "./seed-000/streams.ts";
import "./seed-000/push.ts";
import "./seed-000/start-up.ts";
import { seed } from "./seed-000/seed.ts";

seed.checkIndex();
