import type { ScenarioGroup } from "./scenario.ts";
import { cancels } from "./scenarios/cancels.ts";
import { cards } from "./scenarios/cards.ts";
import { content } from "./scenarios/content.ts";
import { conversations } from "./scenarios/conversations.ts";
import { errors } from "./scenarios/errors.ts";
import { pushes } from "./scenarios/pushes.ts";
import { reads } from "./scenarios/reads.ts";
import { sends } from "./scenarios/sends.ts";
import { streams } from "./scenarios/streams.ts";
import { subscriptions } from "./scenarios/subscriptions.ts";

/** All scenarios for every client, in the order of the matrix. */
export const SCENARIOS: readonly ScenarioGroup[] = [
  cards,
  sends,
  streams,
  conversations,
  content,
  reads,
  cancels,
  subscriptions,
  pushes,
  errors,
];
