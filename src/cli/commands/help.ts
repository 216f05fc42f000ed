import { Command } from "commander";
import { usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";

/** `help task get` prints the same as `task get --help`. */
export function helpCommand(context: CliContext): Command {
  const command = new Command("help")
    .description("Show how to use a command.")
    .argument("[command...]", "the command, for example: task get")
    .helpOption("-h, --help", "print this help");
  return command.action(async (path: readonly string[]) => {
    let target = command.parent ?? command;
    for (const name of path) {
      const next = target.commands.find((child) => child.name() === name);
      if (next === undefined)
        throw usageError(`There is no command "${path.join(" ")}".`, "List all commands with: palaver help");
      target = next;
    }
    // `outputHelp` includes the examples that were added with `addHelpText`; `helpInformation` does not.
    target.configureOutput({ writeOut: (text) => void context.stdout.write(text) });
    target.outputHelp();
  });
}
