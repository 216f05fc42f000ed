import { type Command, Option } from "commander";
import type { processAgent } from "../../adapters/process/process-agent.ts";
import { PROCESS_PROTOCOLS, type ProcessProtocol } from "../../adapters/process/process-options.ts";
import { StartupError } from "../../platform/startup-error.ts";
import { splitShellWords } from "../shell-words.ts";

/** The options of `palaver serve` that make a command an agent. */
export interface ExecFlags {
  readonly exec?: string;
  readonly name?: string;
  readonly protocol?: ProcessProtocol | "acp";
}

/** `acp`: the command speaks the Agent Client Protocol. */
const PROTOCOLS = [...PROCESS_PROTOCOLS, "acp"];

export function addExecOptions(command: Command): void {
  command
    .option("--exec <command>", "serve a command as an agent: it runs once for each task, without a shell")
    .option("--name <name>", "name of the agent of --exec (default: the command's first word)")
    .addOption(
      new Option(
        "--protocol <protocol>",
        "protocol of the --exec command: text, jsonl (one JSON object per line) or acp (Agent Client Protocol) (default: text)",
      ).choices(PROTOCOLS),
    );
}

/** The agent of `--exec`; none without it. Throws a {@link StartupError} for a command that cannot be run. */
export async function execAgents({
  exec,
  name,
  protocol,
}: ExecFlags): Promise<readonly ReturnType<typeof processAgent>[]> {
  if (exec === undefined) {
    if (name === undefined && protocol === undefined) return [];
    throw new StartupError("usage", "--name and --protocol belong to --exec, which is missing.");
  }
  const [command, ...args] = splitShellWords(exec) ?? [];
  if (command === undefined)
    throw new StartupError("usage", `--exec: ${JSON.stringify(exec)} is empty, or a quote in it is not closed.`);
  const shown = name ?? command.slice(command.lastIndexOf("/") + 1);
  try {
    // Loaded here, so that other commands start without them.
    if (protocol === "acp") {
      const { acpAgent } = await import("../../adapters/acp/acp-agent.ts");
      return [acpAgent({ name: shown, command, args })];
    }
    const adapter = await import("../../adapters/process/process-agent.ts");
    return [adapter.processAgent({ name: shown, command, args, ...(protocol !== undefined && { protocol }) })];
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    throw new StartupError("usage", `--exec: ${error.message.replace(/^(?:process|acp)Agent\(\): /, "")}`, {
      cause: error,
    });
  }
}
