import { type Agent, agent } from "../../engine/agent/agent.ts";
import { Children } from "./children/children.ts";
import { type ProcessAgentOptions, processSettings } from "./process-options.ts";
import { runProgram } from "./run-program.ts";

/** Programs that run at the same time, unless `concurrency` says otherwise. */
const CONCURRENCY = 16;

/**
 * Declares an agent that runs a program for each task, without a shell: the message is on its standard input, its standard output is the result, and its
 * exit code decides whether the task has completed or failed. The server must authenticate callers, or be reachable from this machine only. Throws a
 * `TypeError` for invalid options, and if the program does not exist.
 */
export function processAgent(options: ProcessAgentOptions): Agent {
  const { command, args, cwd, env, inherit, protocol, grace, memory, cpuSeconds, ...others } = options;
  const { maxOutput, maxLine, maxFile, stateFolder, ...identity } = others;
  const settings = processSettings(options);
  const children = new Children(settings.stateFolder);
  return {
    ...agent({
      description: identity.name,
      version: "1.0.0",
      concurrency: CONCURRENCY,
      ...identity,
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
