import { type Agent, agent } from "../../engine/agent/agent.ts";
import { Children } from "./children/children.ts";
import { type ProcessAgentOptions, type ProcessOptions, processSettings } from "./process-options.ts";
import { runProgram } from "./run-program.ts";

/** Programs that run at the same time, unless `concurrency` says otherwise. */
const CONCURRENCY = 16;

/**
 * Declares an agent that runs a program for each task, without a shell: the message is on its standard input, its standard output is the result, and its
 * exit code decides whether the task has completed or failed. The server must authenticate callers, or be reachable from this machine only. Throws a
 * `TypeError` for invalid options, and if the program does not exist.
 */
export function processAgent(options: ProcessAgentOptions): Agent {
  const settings = processSettings(options);
  const children = new Children(settings.stateFolder);
  return {
    ...agent({
      description: options.name,
      version: "1",
      concurrency: CONCURRENCY,
      ...withoutProgram(options),
      run: (task) => runProgram(task, { settings, children }),
    }),
    startsPrograms: true,
    async open(logger) {
      const killed = await children.open();
      if (killed > 0) logger.warn("Ended programs that a server left behind when it was killed", { programs: killed });
    },
    close: () => children.close(),
  };
}

const PROGRAM_OPTIONS: Readonly<Record<keyof ProcessOptions, true>> = {
  command: true,
  args: true,
  cwd: true,
  env: true,
  inherit: true,
  protocol: true,
  grace: true,
  memory: true,
  cpuSeconds: true,
  maxOutput: true,
  maxLine: true,
  maxFile: true,
  stateFolder: true,
};

/** The options that describe the agent. The others may contain secrets and stay here. */
function withoutProgram(options: ProcessAgentOptions): Omit<ProcessAgentOptions, keyof ProcessOptions> {
  const others = Object.entries(options).filter(([name]) => !Object.hasOwn(PROGRAM_OPTIONS, name));
  // Safe cast: only the members of ProcessOptions are removed.
  return Object.fromEntries(others) as unknown as Omit<ProcessAgentOptions, keyof ProcessOptions>;
}
