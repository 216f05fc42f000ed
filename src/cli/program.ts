import { Command, CommanderError } from "commander";
import { messageOf, StartupError } from "../platform/startup-error.ts";
import { packageVersion } from "../platform/version.ts";
import { serveCommand } from "./serve-command.ts";

const EXAMPLES = `
Examples:
  palaver serve --demo                 serve agents that show what can be done
  palaver serve agent.ts               serve the agent that agent.ts exports
  palaver serve --help                 all options of serve
`;

/** Runs one command line. Sets the exit code: 0 done, 1 failed, 2 not understood. */
export async function runProgram(argv: readonly string[]): Promise<void> {
  const program = new Command("palaver")
    .description("Makes agents reachable by every other agent, over the Agent2Agent (A2A) protocol.")
    .version(packageVersion(), "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .showHelpAfterError("(--help shows what can be said)")
    .addHelpText("after", EXAMPLES)
    .exitOverride();
  program.addCommand(serveCommand().copyInheritedSettings(program));
  try {
    await program.parseAsync(argv);
  } catch (error) {
    process.exitCode = report(error, argv.includes("--verbose") || Boolean(process.env["DEBUG"]));
  }
}

/** Says what went wrong in words for people. Returns the exit code. */
function report(error: unknown, verbose: boolean): number {
  // Commander has said its piece; asking for help or the version is no failure.
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  process.stderr.write(`palaver: ${messageOf(error)}\n`);
  if (verbose && error instanceof Error) {
    const { stack } = error.cause instanceof Error ? error.cause : error;
    process.stderr.write(`${stack ?? ""}\n`);
  }
  return error instanceof StartupError && error.kind === "usage" ? 2 : 1;
}
