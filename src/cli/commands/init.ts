import { lstatSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Command } from "commander";
import { makeFolder } from "../../internal/make-folder.ts";
import { packageVersion } from "../../platform/version.ts";
import { usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { projectFiles, type Template, templates } from "../init/templates.ts";
import { shellWord } from "../shell-words.ts";
import { exampleText } from "./agent.ts";

const EXAMPLES = [
  ["palaver init my-agent", "a new folder with an agent, its test and a README"],
  ["palaver init", "the same in the current folder"],
  ["palaver init my-agent --template model", "an agent with a language model"],
  ["palaver init --list", "all templates"],
] as const;

const DEFAULT_TEMPLATE = "minimal";

interface InitFlags {
  readonly template: string;
  readonly list?: boolean;
}

/** `palaver init [folder]`. */
export function initCommand(context: CliContext): Command {
  return new Command("init")
    .description("Create an agent project that runs, with its test. Overwrites nothing.")
    .argument("[folder]", "folder to create", ".")
    .option("-t, --template <name>", "what to begin with; --list shows the names", DEFAULT_TEMPLATE)
    .option("--list", "list the templates and create nothing")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", exampleText(EXAMPLES))
    .action((folder: string, flags: InitFlags) =>
      flags.list === true ? list(context) : init(context, folder, templateOf(flags.template)),
    );
}

async function list({ stdout, program }: CliContext): Promise<void> {
  const all = templates();
  const width = Math.max(...all.map(({ name }) => name.length));
  for (const { name, description } of all) await stdout.write(`${name.padEnd(width)}  ${description}\n`);
  await stdout.write(`\nUse one: ${program} init my-agent --template ${all.at(1)?.name ?? DEFAULT_TEMPLATE}\n`);
}

function templateOf(name: string): Template {
  const all = templates();
  const found = all.find((template) => template.name === name);
  if (found !== undefined) return found;
  const names = all.map((template) => template.name).join(", ");
  throw usageError(`There is no template ${JSON.stringify(name)}.`, `Use one of ${names}: palaver init --list`);
}

/** Checks all files before it writes the first, so that a refused command changes nothing. */
async function init(context: CliContext, folder: string, template: Template): Promise<void> {
  const { cwd, stdout } = context;
  const target = resolve(cwd, folder);
  const files = projectFiles(template, { name: projectName(basename(target)), palaver: packageVersion() });
  const there = [...files.keys()].filter((name) => exists(join(target, name)));
  if (there.length > 0) {
    throw usageError(
      `${target} already has ${there.join(", ")}. Nothing was written.`,
      "Name another folder: palaver init my-agent",
    );
  }
  makeTarget(target);
  for (const [name, content] of files) {
    write(join(target, name), content);
    await stdout.write(`Wrote: ${join(folder, name)}\n`);
  }
  for (const line of nextLines(context, folder, template)) await stdout.write(`${line}\n`);
}

/** What to do now. */
function nextLines({ cwd, program }: CliContext, folder: string, { scripts, next = [] }: Template): readonly string[] {
  const isHere = resolve(cwd, folder) === resolve(cwd);
  const watches = scripts.dev.startsWith("palaver") ? "serves it, opens the console" : "serves it";
  return [
    "",
    "Next:",
    ...(isHere ? [] : [`  cd ${shellWord(folder)}`]),
    "  npm install",
    `  npm run dev     # ${watches}, and restarts when you change a file`,
    "  npm run check   # types, lint and tests",
    ...next.map((line) => `  ${line}`),
    "",
    `README.md says more. Other templates: ${program} init --list`,
  ];
}

/** Also true for a link that points nowhere. */
function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

function write(path: string, content: string): void {
  try {
    writeFileSync(path, content, { flag: "wx" });
  } catch (error) {
    throw usageError(
      `${path} could not be written: ${reasonOf(error)}. Files that are listed above were written.`,
      "Name another folder: palaver init my-agent",
    );
  }
}

function makeTarget(target: string): void {
  try {
    makeFolder(target, 0o777);
  } catch (error) {
    throw usageError(
      `The folder ${target} could not be created: ${reasonOf(error)}`,
      "Name another folder: palaver init my-agent",
    );
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A valid npm package name: `My Agent!` becomes `my-agent`. */
function projectName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z\d._-]+/g, "-")
    .replace(/^[._-]+|[._-]+$/g, "");
  return name === "" ? "my-agent" : name.slice(0, 100);
}
