import type { Scenario } from "../scenario.ts";
import { blockingSend } from "./blocking-send.ts";
import { clusterCosts } from "./cluster-costs.ts";
import { clusterEvents } from "./cluster-events.ts";
import { clusterTakeover } from "./cluster-takeover.ts";
import { consolePages } from "./console.ts";
import { CPU_SCENARIOS } from "./cpu.ts";
import { diskCosts } from "./disk-costs.ts";
import { flooded } from "./flooded.ts";
import { getTask } from "./get-task.ts";
import { growth } from "./growth.ts";
import { grpc } from "./grpc.ts";
import { grpcPaced } from "./grpc-paced.ts";
import { idleSubscribers } from "./idle-subscribers.ts";
import { largeTask } from "./large-task.ts";
import { listTasks } from "./list-tasks.ts";
import { listener } from "./listener.ts";
import { longStream } from "./long-stream.ts";
import { observed } from "./observed.ts";
import { pacedStreams } from "./paced-streams.ts";
import { stalledReader } from "./stalled-reader.ts";
import { start } from "./start.ts";
import { streamEvents } from "./stream-events.ts";
import { tracing } from "./tracing.ts";
import { waitingTasks } from "./waiting-tasks.ts";

/** In the order they run. */
export const SCENARIOS: readonly Scenario[] = [
  diskCosts,
  start,
  ...CPU_SCENARIOS,
  listener,
  blockingSend,
  tracing,
  streamEvents,
  grpc,
  grpcPaced,
  longStream,
  pacedStreams,
  flooded,
  getTask,
  observed,
  listTasks,
  idleSubscribers,
  waitingTasks,
  stalledReader,
  largeTask,
  growth,
  consolePages,
  clusterCosts,
  clusterEvents,
  clusterTakeover,
];
