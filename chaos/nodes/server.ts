import { serve } from "../../src/platform/serve.ts";
import { openJournal } from "../journal.ts";
import { scriptedAgent } from "../server/agent.ts";
import { jumpClock } from "./jump-clock.ts";

/** The JSON argument of the process of a node. */
export interface NodeSetup {
  /** The address of the database, through the node's proxy. */
  readonly database: string;
  /** The same for hints, through another proxy. */
  readonly hints: string;
  readonly steps: string;
  /** The address for callers. */
  readonly publicUrl: string;
  /** Milliseconds. Absent: the default. */
  readonly lease?: number;
}

const setup: NodeSetup = JSON.parse(process.argv[2] ?? "");
process.env["DATABASE_DIRECT_URL"] = setup.hints;
const { url } = await serve(scriptedAgent(openJournal(setup.steps)), {
  port: 0,
  publicUrl: setup.publicUrl,
  store: setup.database,
  idempotency: { window: 86_400_000 },
  cancelGrace: 500,
  heartbeat: 1000,
  ...(setup.lease !== undefined && { lease: setup.lease }),
  push: { retries: 20, retryDelay: 20, timeout: 3000 },
  outgoing: { http: true, allow: ["loopback"] },
});
process.on("message", ({ jump }: { readonly jump: number }) => jumpClock(jump));
process.on("disconnect", () => process.exit(1));
process.send?.({ url });
