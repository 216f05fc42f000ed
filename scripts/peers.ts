// Installs other projects' A2A packages into a temporary folder and runs the scenarios of test/foreign-peers with
// them: their clients against this server, this client against their servers. Exits with 1 if a result is not as
// expected.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs, promisify } from "node:util";
import { Modules, type RealPeer } from "../test/foreign-peers/real/real-peer.ts";
import { REAL_CLIENTS, REAL_SERVERS } from "../test/foreign-peers/real-peers.ts";
import { isDifferent, type Row, tryClient, tryServer } from "../test/foreign-peers/try-real.ts";

const HELP = `npm run peers -- [options]

Installs the packages that test/foreign-peers imitates, in pinned versions, and runs the same scenarios with them.
Needs the npm registry. Exits with 1 if a result is not as expected.

  --only NAME   run only peers whose name contains NAME, for example: --only adk
  --keep        keep the temporary folder, and print its path
  --help        print this text
`;

const options = readOptions();
if (options.help) {
  process.stdout.write(HELP);
  process.exit(0);
}

const write = process.stdout.write.bind(process.stdout);
const print = (line: string): void => void write(`${line}\n`);
silenceLibraries();
const root = await mkdtemp(join(tmpdir(), "palaver-peers-"));
let tried = 0;
let differences = 0;
try {
  for (const real of REAL_CLIENTS) await tryPeer(real, "client", (modules) => tryClient(real, modules));
  for (const real of REAL_SERVERS) await tryPeer(real, "server", (modules) => tryServer(real, modules));
} finally {
  if (options.keep) print(`\nThe packages are in ${root}.`);
  else await rm(root, { recursive: true, force: true });
}
if (tried === 0) print(`No peer has a name that contains "${options.only}".`);
print(`\n${tried} scenarios, ${differences} not as expected`);
// Some of the libraries keep timers and sockets open.
process.exit(tried === 0 || differences > 0 ? 1 : 0);

function readOptions(): { readonly only: string; readonly keep: boolean; readonly help: boolean } {
  try {
    const flag = { type: "boolean", default: false } as const;
    return parseArgs({ options: { only: { type: "string", default: "" }, keep: flag, help: flag } }).values;
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : "Invalid options."}\n\n${HELP}`);
    process.exit(2);
  }
}

async function tryPeer(
  real: RealPeer,
  side: "client" | "server",
  run: (modules: Modules) => Promise<readonly Row[]>,
): Promise<void> {
  if (!real.name.toLowerCase().includes(options.only.toLowerCase())) return;
  const names = Object.entries(real.packages).map(([name, version]) => `${name}@${version}`);
  print(`\n${real.name}, ${side}: ${names.join(", ")}`);
  let rows: readonly Row[];
  try {
    rows = await run(await Modules.of(await install(names)));
  } catch (error) {
    tried++;
    differences++;
    print(`  ✗ could not be run: ${error instanceof Error ? error.message : JSON.stringify(error)}`);
    return;
  }
  for (const row of rows) {
    tried++;
    if (isDifferent(row)) differences++;
    print(lineOf(row));
  }
}

/** Install scripts are not run: none of the packages needs them here, and some download files. */
async function install(names: readonly string[]): Promise<string> {
  const folder = join(root, (names[0] ?? "").replaceAll(/[^a-z0-9]+/g, "-"));
  // A framework's client and server are in the same packages.
  if (existsSync(folder)) return folder;
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--legacy-peer-deps", "--loglevel=error"];
  await promisify(execFile)("npm", ["install", "--save-exact", ...flags, ...names], { cwd: folder });
  return folder;
}

function lineOf(row: Row): string {
  const { scenario, expected, isAwaited, error } = row;
  const mark = error === undefined ? "✓" : expected === "works" ? "✗" : "–";
  const reason = expected === "works" ? (isAwaited ? "not fixed yet" : "") : expected.cannot;
  const note = isDifferent(row) ? `NOT AS EXPECTED: ${error ?? `it works, although: ${reason}`}` : reason;
  return `  ${mark} ${scenario.padEnd(32)} ${note.replaceAll(/\s+/g, " ").slice(0, 300)}`.trimEnd();
}

/** The libraries write logs, and some fail in the background when a connection is closed. Neither is a result. */
function silenceLibraries(): void {
  process.stdout.write = () => true;
  process.stderr.write = () => true;
  process.env["BEE_FRAMEWORK_LOG_LEVEL"] = "silent";
  process.on("unhandledRejection", () => {});
}
