// Installs the agent frameworks of frameworks/package.json, puts this package beside them in the form in which it is
// published, and runs the tests of frameworks/ with the real packages. Exits with 1 if a test fails.
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { publishedForm } from "./published-manifest.mjs";

const HELP = `npm run frameworks -- [options] [test files]

Installs the AI SDK, LangGraph, LangChain and the OpenAI Agents SDK in frameworks/, and tests the adapters with them.
Needs the npm registry. All models are scripted; no key is needed.

  --no-install   use the packages that are installed already
  --help         print this text
`;

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, "frameworks");
const { values, positionals } = readOptions();
if (values.help) {
  process.stdout.write(HELP);
  process.exit(0);
}
if (!values["no-install"]) run("npm", ["ci", "--ignore-scripts", "--prefer-offline"], folder);
installPalaver();
run("tsc", ["--noEmit", "--project", "frameworks"], root);
process.exitCode =
  spawnSync("vitest", ["run", "--root", "frameworks", ...positionals], {
    cwd: root,
    stdio: "inherit",
  }).status ?? 1;

function readOptions(): {
  readonly values: { readonly "no-install": boolean; readonly help: boolean };
  readonly positionals: readonly string[];
} {
  try {
    const flag = { type: "boolean", default: false } as const;
    return parseArgs({ options: { "no-install": flag, help: flag }, allowPositionals: true });
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : "Invalid options."}\n\n${HELP}`);
    process.exit(2);
  }
}

/** The adapters import the frameworks as users' installations do: from a package that lies beside them. */
function installPalaver(): void {
  const place = join(folder, "node_modules", "palaver");
  rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  run("tsc", ["--project", "tsconfig.build.json", "--outDir", join(place, "dist")], root);
  writeFileSync(join(place, "package.json"), publishedForm(readFileSync(join(root, "package.json"), "utf8")));
}

function run(command: string, args: readonly string[], cwd: string): void {
  execFileSync(command, args, { cwd, stdio: "inherit" });
}
