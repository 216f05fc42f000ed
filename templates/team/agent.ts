import { type Agent, team } from "palaver";
import { booker, events, weather } from "./members.ts";

/** Asks two agents at once and shows both answers. */
const guide = team({
  name: "Guide",
  description: "Tells what to expect in a city.",
  version: "0.0.1",
  pattern: "parallel",
  agents: { weather, events },
});

/** Sends each message to the right agent. A language model could pick as well. */
const desk = team({
  name: "Travel desk",
  description: "Tells what to expect in a city, and books trips.",
  version: "0.0.1",
  skills: [
    { id: "guide", name: "Guide", description: "Weather and events.", tags: ["travel"], examples: ["Rome"] },
    { id: "book", name: "Book", description: "Books a trip.", tags: ["travel"], examples: ["book Rome"] },
  ],
  pattern: "router",
  agents: { guide, booker },
  pick: (task) => (/^book\b/i.test(task.text) ? "booker" : "guide"),
});

/** The first agent is the one at the address of the server. */
const agents: readonly Agent[] = [desk, guide, booker, weather, events];
export default agents;
