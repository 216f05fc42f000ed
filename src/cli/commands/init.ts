import { existsSync, writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { Command } from "commander";
import { makeFolder } from "../../internal/make-folder.ts";
import { packageVersion } from "../../platform/version.ts";
import { usageError } from "../cli-error.ts";
import type { CliContext } from "../context.ts";
import { projectFiles } from "../project-files.ts";
import { shellWord } from "../shell-words.ts";
import { exampleText } from "./agent.ts";

const EXAMPLES = [
  ["palaver init my-agent", "a new folder with an agent, its test and a README"],
  ["palaver init", "the same in the current folder"],
] as const;

/** `palaver init [folder]`. */
export function initCommand(context: CliContext): Command {
  return new Command("init")
    .description("Create a small agent project that runs. Overwrites nothing.")
    .argument("[folder]", "folder to create", ".")
    .helpOption("-h, --help", "print this help")
    .addHelpText("after", exampleText(EXAMPLES))
    .action((folder: string) => init(context, folder));
}

/** Checks all files before it writes the first, so that a refused command changes nothing. */
async function init({ cwd, stdout }: CliContext, folder: string): Promise<void> {
  const target = resolve(cwd, folder);
  const files = projectFiles({ name: projectName(basename(target)), palaver: packageVersion() });
  const there = Object.keys(files).filter((name) => existsSync(join(target, name)));
  if (there.length > 0) {
    throw usageError(
      `${target} already has ${there.join(", ")}. Nothing was written.`,
      "Name another folder: palaver init my-agent",
    );
  }
  makeTarget(target);
  for (const [name, content] of Object.entries(files)) {
    writeFileSync(join(target, name), content, { flag: "wx" });
    await stdout.write(`Wrote: ${join(folder, name)}\n`);
  }
  const enter = target === resolve(cwd) ? "" : `cd ${shellWord(folder)} && `;
  await stdout.write(`Next: ${enter}npm install && npm start\n`);
}

function makeTarget(target: string): void {
  try {
    makeFolder(target, 0o777);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw usageError(
      `The folder ${target} could not be created: ${reason}`,
      "Name another folder: palaver init my-agent",
    );
  }
}

/** A valid npm package name: `My Agent!` becomes `my-agent`. */
function projectName(folder: string): string {
  const name = folder
    .toLowerCase()
    .replaceAll(/[^a-z\d._-]+/g, "-")
    .replace(/^[._-]+|[._-]+$/g, "");
  return name === "" ? "my-agent" : name.slice(0, 100);
}
