import { type Agent, remoteAgent } from "palaver";

/** What `serve` is given to relay to the agent at `BEHIND`. */
const relaying: Agent = await remoteAgent(process.env["BEHIND"] ?? "");
export default relaying;
