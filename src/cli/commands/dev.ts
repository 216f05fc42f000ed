import { dirname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import type { CliContext } from "../context.ts";
import { openBrowser } from "../dev/open-browser.ts";
import { runRestartingServer } from "../dev/restarting-server.ts";
import { createTypeChecker } from "../dev/type-checker.ts";

const HELP = `
All other options are those of palaver serve: see palaver serve --help. A restart does not wait for running tasks: they continue after it.

Examples:
  palaver dev agent.ts
  palaver dev agent.ts --port 4000 --no-open
  palaver dev --demo
`;

/** The program that is running: `main.ts` in a clone, `main.js` in the package. */
const MAIN = fileURLToPath(new URL(`../main${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url));

/** `palaver dev`: serves agents, restarts when a source file changes, and opens the console. */
export function devCommand(context: CliContext): Command {
  return new Command("dev")
    .description("Serve agents, restart when a file changes, and open the console in the browser.")
    .argument("[modules...]", "files that export agents (.ts or .js), and options of palaver serve")
    .option("--no-open", "do not open the console in the browser")
    .option("--no-types", "do not check the types; needs tsconfig.json and typescript in the current folder")
    .allowUnknownOption()
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", HELP)
    .action(async (args: readonly string[], { open, types }: { readonly open: boolean; readonly types: boolean }) => {
      const { cwd, stderr, env, signal } = context;
      const note = (line: string): void => void stderr.write(`palaver dev: ${line}\n`);
      const checker = types ? createTypeChecker({ folder: cwd, note }) : undefined;
      const hasDrain = args.some((word) => word.startsWith("--drain-timeout"));
      const code = await runRestartingServer({
        argv: [...process.execArgv, MAIN, "serve", ...args, ...(hasDrain ? [] : ["--drain-timeout", "0"])],
        folders: foldersOf(args, cwd),
        cwd,
        onConsole: (url) => {
          if (open && stderr.isTTY && !env["CI"]) openBrowser(url);
        },
        onChange: () => checker?.check(),
        note,
        signal,
      });
      checker?.close();
      if (code !== 0) process.exitCode = code;
    });
}

/** The folders of the modules; in a clone also the sources of Palaver, which the demo agents are part of. */
function foldersOf(args: readonly string[], cwd: string): readonly string[] {
  const modules = args.filter((word) => /\.[cm]?[jt]s$/.test(word)).map((file) => dirname(resolve(cwd, file)));
  const own = args.includes("--demo") && MAIN.endsWith(".ts") ? [dirname(dirname(MAIN))] : [];
  return [...new Set([...modules, ...own])];
}
