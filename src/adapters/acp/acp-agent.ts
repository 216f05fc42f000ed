import { type Agent, agent } from "../../engine/agent/agent.ts";
import { Children } from "../process/children/children.ts";
import { processSettings } from "../process/process-options.ts";
import { type AcpAgentOptions, acpSettings } from "./acp-options.ts";
import { requireAcpSdk } from "./acp-package.ts";
import { runAcp } from "./run-acp.ts";

/** Programs that run at the same time, unless `concurrency` says otherwise. */
const CONCURRENCY = 16;

/**
 * Declares an agent that runs a program which speaks the Agent Client Protocol (ACP), such as a coding agent. Each task is one prompt; the tasks of one context
 * share a session, if the program can load sessions. The server must authenticate callers, or be reachable from this machine only. Throws a `TypeError`
 * for invalid options, and an `Error` if the package `@agentclientprotocol/sdk` is not installed.
 */
export function acpAgent(options: AcpAgentOptions): Agent {
  requireAcpSdk();
  const settings = acpSettings(options);
  const program = processSettings(options, "acpAgent()");
  const children = new Children(program.stateFolder);
  return {
    ...agent({
      description: options.name,
      version: "1",
      concurrency: CONCURRENCY,
      ...identityOf(options),
      name: options.name,
      run: (task) => runAcp(task, { settings, program, children }),
    }),
    startsPrograms: true,
    async open(logger) {
      const killed = await children.open();
      if (killed > 0) logger.warn("Ended programs that a server left behind when it was killed", { programs: killed });
    },
    close: () => children.close(),
  };
}

const OWN_OPTIONS: readonly string[] = [
  ...["command", "args", "cwd", "env", "inherit", "grace", "memory", "cpuSeconds", "maxOutput", "maxLine", "maxFile"],
  ...["stateFolder", "permissions", "files", "showReasoning", "continueWith", "startTimeout"],
];

/** The options that describe the agent. The others may contain secrets and stay here. */
function identityOf(options: AcpAgentOptions): Partial<Agent> {
  return Object.fromEntries(Object.entries(options).filter(([name]) => !OWN_OPTIONS.includes(name)));
}
