import { createAgent } from "./create-agent.ts";

/** What `npm start` serves. */
export default await createAgent(process.env["MCP_URL"]);
