import type { Scenario } from "../scenario.ts";
import { blockingSend } from "./blocking-send.ts";
import { diskCosts } from "./disk-costs.ts";
import { flooded } from "./flooded.ts";
import { getTask } from "./get-task.ts";
import { idleSubscribers } from "./idle-subscribers.ts";
import { largeTask } from "./large-task.ts";
import { listTasks } from "./list-tasks.ts";
import { longStream } from "./long-stream.ts";
import { pacedStreams } from "./paced-streams.ts";
import { stalledReader } from "./stalled-reader.ts";
import { streamEvents } from "./stream-events.ts";

/** In the order they run. */
export const SCENARIOS: readonly Scenario[] = [
  diskCosts,
  blockingSend,
  streamEvents,
  longStream,
  pacedStreams,
  flooded,
  getTask,
  listTasks,
  idleSubscribers,
  stalledReader,
  largeTask,
];
