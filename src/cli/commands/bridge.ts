import { Command } from "commander";
import { RemoteError } from "../../client/http/errors.ts";
import { StartupError } from "../../platform/startup-error.ts";
import {
  addServingOptions,
  SERVING_ENVIRONMENT,
  type ServingFlags,
  servingOptionsFrom,
} from "../options/serving-options.ts";

const EXAMPLES = `
Callers of every protocol version reach the agent here, whichever version the agent supports.

Examples:
  palaver bridge https://agents.example.org
  palaver bridge http://127.0.0.1:41241 --port 8080
  palaver bridge https://agents.example.org --bearer "$TOKEN" --store memory:
${SERVING_ENVIRONMENT}`;

interface Flags extends ServingFlags {
  readonly bearer?: string;
  readonly apiKey?: string;
}

/** `palaver bridge URL`: a server whose only agent relays to a remote one (`adapters/remote`). */
export function bridgeCommand(): Command {
  const command = new Command("bridge")
    .description("Serve a remote agent in every protocol version and binding.")
    .argument("<url>", "URL of the agent or of its card")
    .option("--bearer <token>", "bearer token for the remote agent")
    .option("--api-key <key>", "API key for the remote agent");
  addServingOptions(command);
  return command.helpOption("-h, --help", "print this help").addHelpText("after", EXAMPLES).action(bridge);
}

/** Credentials are for the remote agent. Callers of the bridge need none unless the serving options require them. */
async function bridge(url: string, { bearer, apiKey, ...flags }: Flags): Promise<void> {
  const credentials = { ...(bearer !== undefined && { bearer }), ...(apiKey !== undefined && { apiKey }) };
  // Loaded here, so that other commands start without the server.
  const [{ serve }, { remoteAgent }] = await Promise.all([
    import("../../platform/serve.ts"),
    import("../../adapters/remote/remote-agent.ts"),
  ]);
  const known = Object.keys(credentials).length > 0;
  const agent = await remoteAgent(url, known ? { credentials } : {}).catch((error: unknown) => {
    if (!(error instanceof RemoteError)) throw error;
    throw new StartupError("failed", `The remote agent was not found: ${error.message}`, { cause: error });
  });
  await serve(agent, servingOptionsFrom(flags));
}
