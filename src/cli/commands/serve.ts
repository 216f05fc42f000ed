import { Command } from "commander";
import { loadAgents } from "../../platform/agents/load-agents.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { addExecOptions, type ExecFlags, execAgents } from "../options/exec-options.ts";
import {
  addServingOptions,
  SERVING_ENVIRONMENT,
  type ServingFlags,
  servingOptionsFrom,
} from "../options/serving-options.ts";

const EXAMPLES = `
A module exports its agents: as its default export (one, a list, or a function that gives either) or by name.

Examples:
  palaver serve --demo
  palaver serve agent.ts
  palaver serve billing.ts travel.ts --port 8080
  palaver serve --exec "python agent.py" --name Translator --protocol jsonl
  palaver serve agent.ts --store memory:
  palaver serve agent.ts --store sqlite:/var/lib/agents/tasks.db --public-url https://agents.example.org
  palaver serve agent.ts --host 0.0.0.0 --trusted-proxies private --cors-origin https://app.example.org
${SERVING_ENVIRONMENT}`;

/** `palaver serve`. Returns while its server runs; signals stop it. */
export function serveCommand(): Command {
  const command = new Command("serve")
    .description("Serve the agents that the given modules export.")
    .argument("[modules...]", "files that export agents (.ts or .js)")
    .option("--demo", "serve the demo agents: echo, countdown, booking, files");
  addExecOptions(command);
  addServingOptions(command);
  return command.helpOption("-h, --help", "print this help").addHelpText("after", EXAMPLES).action(serveModules);
}

interface Flags extends ServingFlags, ExecFlags {
  readonly demo?: boolean;
}

async function serveModules(modules: readonly string[], { demo, ...others }: Flags): Promise<void> {
  const { exec, name, protocol, ...flags } = others;
  const commands = await execAgents({
    ...(exec !== undefined && { exec }),
    ...(name !== undefined && { name }),
    ...(protocol !== undefined && { protocol }),
  });
  if (modules.length === 0 && demo !== true && commands.length === 0) {
    throw new StartupError(
      "usage",
      "No module is given.\nName a module that exports an agent (palaver serve agent.ts) or a command (--exec), or try palaver serve --demo.",
    );
  }
  // Loaded here, so that other commands start without the server.
  const [{ serve }, { demoAgents }] = await Promise.all([
    import("../../platform/serve.ts"),
    import("../../demo/agents.ts"),
  ]);
  const agents = [...(await loadAgents(modules)), ...commands, ...(demo === true ? demoAgents : [])];
  await serve(agents, servingOptionsFrom(flags));
}
