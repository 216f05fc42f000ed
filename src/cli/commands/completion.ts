import { Argument, Command } from "commander";
import type { CliContext } from "../context.ts";
import { exampleText } from "./agent.ts";

const SHELLS = ["bash", "zsh", "fish"] as const;
type Shell = (typeof SHELLS)[number];

const EXAMPLES = [
  ["source <(palaver completion bash)", "in ~/.bashrc"],
  ["source <(palaver completion zsh)", "in ~/.zshrc, after compinit"],
  ["palaver completion fish > ~/.config/fish/completions/palaver.fish", "once"],
] as const;

/** `palaver completion SHELL`. The scripts are generated from the commands themselves, so they cannot be out of date. */
export function completionCommand(context: CliContext): Command {
  const command = new Command("completion")
    .description("Print a completion script for your shell.")
    .helpOption("-h, --help", "print this help")
    .addArgument(new Argument("<shell>", "which shell").choices(SHELLS))
    .addHelpText("after", exampleText(EXAMPLES));
  return command.action(async (shell: Shell) => {
    const root = command.parent ?? command;
    await context.stdout.write(SCRIPTS[shell](wordsOf(root)));
  });
}

/** The words that can follow a command. For `task get`: its options and subcommands. */
interface Words {
  readonly path: string;
  readonly words: readonly string[];
}

/** One entry per command and subcommand, the root first. */
function wordsOf(root: Command): readonly Words[] {
  const walk = (command: Command, path: readonly string[]): readonly Words[] => {
    const visible = command.createHelp().visibleCommands(command);
    const options = command.createHelp().visibleOptions(command);
    const words = [
      ...visible.map((child) => child.name()),
      ...options.flatMap(({ long, short }) => [long, short]).filter((flag) => flag !== undefined),
    ];
    const children = visible.filter((child) => command.commands.includes(child));
    return [{ path: path.join(" "), words }, ...children.flatMap((child) => walk(child, [...path, child.name()]))];
  };
  return walk(root, []);
}

const SCRIPTS: Readonly<Record<Shell, (all: readonly Words[]) => string>> = { bash, zsh, fish };

function bash(all: readonly Words[]): string {
  const cases = all.map(({ path, words }) => `    "${path}") words="${words.join(" ")}" ;;`).join("\n");
  return `# Completion of palaver for bash: source <(palaver completion bash)
_palaver() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path="" next word words=""
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    next="\${path:+$path }$word"
    case "$next" in
      ${all.flatMap(({ path }) => (path === "" ? [] : [`"${path}"`])).join("|")}) path="$next" ;;
    esac
  done
  case "$path" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ \${#COMPREPLY[@]} -eq 0 && "$current" != -* ]]; then COMPREPLY=($(compgen -f -- "$current")); fi
}
complete -o filenames -F _palaver palaver
`;
}

/** zsh can run completion scripts of bash. */
function zsh(all: readonly Words[]): string {
  return `# Completion of palaver for zsh: source <(palaver completion zsh)
autoload -U +X bashcompinit && bashcompinit
${bash(all).split("\n").slice(1).join("\n")}`;
}

function fish(all: readonly Words[]): string {
  const lines = all.flatMap(({ path, words }) => {
    const commands = path.split(" ").filter(Boolean);
    const seen = commands.map((name) => `__fish_seen_subcommand_from ${name}`).join("; and ");
    const condition = commands.length === 0 ? "__fish_use_subcommand" : seen;
    return words.map((word) => {
      const what = word.startsWith("--")
        ? `-l ${word.slice(2)}`
        : word.startsWith("-")
          ? `-s ${word.slice(1)}`
          : `-a ${word}`;
      return `complete -c palaver -n '${condition}' ${word.startsWith("-") ? "" : "-f "}${what}`;
    });
  });
  return `# Completion of palaver for fish\n${lines.join("\n")}\n`;
}
