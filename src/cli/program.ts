import { Command, CommanderError } from "commander";
import { oneLine } from "../internal/terminal-text.ts";
import { packageVersion } from "../platform/version.ts";
import { CliError, CommandFailed } from "./cli-error.ts";
import { exampleText } from "./commands/agent.ts";
import { commandsFor } from "./commands/all.ts";
import type { CliContext } from "./context.ts";
import type { ReportOptions } from "./output/report-error.ts";
import { wantsJson } from "./output/wants-json.ts";
import { pasteable } from "./program-name.ts";
import { effectiveDefaults } from "./session/effective-defaults.ts";

const EXAMPLES = [
  ["palaver serve --demo", "serve the demo agents"],
  ["palaver card get -a http://127.0.0.1:3000", "show the card of an agent"],
  ['palaver send "Hello" -a http://127.0.0.1:3000', "send a message"],
  ["palaver init my-agent", "create your own agent"],
  ["palaver help send", "help for one command"],
] as const;

/** The parser with these commands. */
function createProgram(context: CliContext, commands: readonly Command[]): Command {
  const program = new Command("palaver")
    .description("Serve and call agents over the Agent2Agent (A2A) protocol.")
    .version(packageVersion(), "-v, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .helpCommand(false)
    .addHelpText("after", exampleText(EXAMPLES));
  for (const command of commands) program.addCommand(command);
  for (const command of allCommands(program)) {
    command.exitOverride().showHelpAfterError("(--help lists the options)");
    if (command.options.some(({ long }) => long === "--agent-card")) {
      command.addHelpText("after", () => effectiveDefaults(context, command.opts()));
    }
  }
  return program;
}

/** The command itself and all below it. */
function allCommands(command: Command): readonly Command[] {
  return [command, ...command.commands.flatMap(allCommands)];
}

/** Runs one command line. Returns its exit code: 0 success, 2 invalid usage; `docs/reference/cli.md` lists the others. */
export async function runProgram(argv: readonly string[], context: CliContext): Promise<number> {
  const program = createProgram(context, await commandsFor(argv, context));
  const json = wantsJson(argv, context);
  const { program: name } = context;
  let usageErrors = "";
  const isVerbose = argv.includes("--verbose") || Boolean(context.env["DEBUG"]);
  for (const command of allCommands(program)) {
    command.configureOutput({
      writeOut: (text) => void context.stdout.write(pasteable(text, name)),
      // With JSON output, `report` writes the error as JSON.
      writeErr: (text) => {
        usageErrors += text;
        if (!json) void context.stderr.write(pasteable(text, name));
      },
    });
    if (json) command.showHelpAfterError(false);
  }
  try {
    await program.parseAsync(argv, { from: "user" });
    return 0;
  } catch (error) {
    if (error instanceof CommandFailed) return error.exitCode;
    if (!(error instanceof CommanderError)) return report(error, context, { json, verbose: isVerbose });
    // `--help` and `--version` end the parser with exit code 0.
    if (error.exitCode === 0) return 0;
    if (json) {
      const message = usageErrors.replace(/^error: /, "").trim() || error.message;
      await report(new CliError("A2ACLI_ERR_USAGE", oneLine(message), { hint: "palaver help" }), context, {
        json,
        verbose: false,
      });
    }
    return 2;
  }
}

/** Loads what writes errors only if there is one. */
async function report(error: unknown, context: CliContext, options: ReportOptions): Promise<number> {
  const { reportError } = await import("./output/report-error.ts");
  return reportError(error, context, options);
}
