import { Command } from "commander";
import { loadAgents } from "../../platform/agents/load-agents.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { packageVersion } from "../../platform/version.ts";
import { addExecOptions, type ExecFlags, execAgents } from "../options/exec-options.ts";
import { addMcpOption, type McpFlags, mcpAgents } from "../options/mcp-options.ts";
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
  palaver serve --model ollama/llama3.2 --instructions "Answer in one sentence."
  palaver serve billing.ts travel.ts --port 8080
  palaver serve --exec "python agent.py" --name Translator --protocol jsonl
  palaver serve --mcp http://127.0.0.1:8000/mcp --mcp "npx some-mcp-server"
  palaver serve agent.ts --store memory:
  palaver serve agent.ts --store sqlite:/var/lib/agents/tasks.db --public-url https://agents.example.org
  palaver serve agent.ts --host 0.0.0.0 --trusted-proxies private --cors-origin https://app.example.org
${SERVING_ENVIRONMENT}`;

/** `palaver serve`. Returns while its server runs; signals stop it. */
export function serveCommand(): Command {
  const command = new Command("serve")
    .description("Serve the agents that the given modules export.")
    .argument("[modules...]", "files that export agents (.ts or .js)")
    .option("--demo", "serve the demo agents: echo, countdown, booking, files, assistant")
    .option("--model <provider/model>", "serve an assistant with this language model, as in ollama/llama3.2")
    .option("--instructions <text>", "the system prompt of that assistant");
  addExecOptions(command);
  addMcpOption(command);
  addServingOptions(command);
  return command.helpOption("-h, --help", "print this help").addHelpText("after", EXAMPLES).action(serveModules);
}

interface Flags extends ServingFlags, ExecFlags, McpFlags {
  readonly demo?: boolean;
  readonly model?: string;
  readonly instructions?: string;
}

async function serveModules(modules: readonly string[], options: Flags): Promise<void> {
  const { demo, model, instructions, exec, name, protocol, mcp = [], ...flags } = options;
  const commands = await execAgents({
    ...(exec !== undefined && { exec }),
    ...(name !== undefined && { name }),
    ...(protocol !== undefined && { protocol }),
  });
  if (modules.length === 0 && demo !== true && model === undefined && commands.length === 0 && mcp.length === 0) {
    throw new StartupError(
      "usage",
      "No module is given.\nName a module that exports an agent (palaver serve agent.ts), a command (--exec) or an MCP server (--mcp), or try palaver serve --demo.",
    );
  }
  if (instructions !== undefined && model === undefined)
    throw new StartupError("usage", "--instructions needs --model: it is the system prompt of that model.");
  // Loaded here, so that other commands start without the server, and servers without what they do not serve.
  const { serve } = await import("../../platform/serve.ts");
  const others = [
    ...(model === undefined ? [] : [await modelAssistant(model, instructions)]),
    ...(await loadAgents(modules)),
    ...commands,
  ];
  const tools = await mcpAgents({ mcp });
  const agents = [...others, ...tools, ...(demo === true ? (await import("../../demo/agents.ts")).demoAgents : [])];
  try {
    await serve(agents, servingOptionsFrom(flags));
  } catch (error) {
    // Their programs and connections would keep this process alive.
    for (const agent of tools) await agent.close?.();
    throw error;
  }
}

/** An agent with a model and no tools. */
async function modelAssistant(model: string, instructions: string | undefined) {
  const { modelAgent } = await import("../../adapters/models/model-agent.ts");
  try {
    return modelAgent({
      id: "model",
      name: model,
      description: `Answers with the language model ${model}.`,
      version: packageVersion(),
      model,
      ...(instructions !== undefined && { instructions }),
    });
  } catch (error) {
    throw new StartupError("usage", error instanceof Error ? error.message : String(error));
  }
}
