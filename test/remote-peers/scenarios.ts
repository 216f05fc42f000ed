import type { ScenarioGroup } from "./scenario-setup.ts";
import { content } from "./scenarios/content.ts";
import { discovery } from "./scenarios/discovery.ts";
import { errors } from "./scenarios/errors.ts";
import { pushes } from "./scenarios/pushes.ts";
import { sends } from "./scenarios/sends.ts";
import { streams } from "./scenarios/streams.ts";
import { tasks } from "./scenarios/tasks.ts";
import { turns } from "./scenarios/turns.ts";

/** All scenarios for the client with every server, in the order of the matrix. */
export const SCENARIOS: readonly ScenarioGroup[] = [discovery, sends, streams, turns, content, tasks, pushes, errors];
